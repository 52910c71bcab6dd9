import { type Config, ConfigReader } from '@backstage/config';
import { InputError } from '@backstage/errors';
import {
  type AuthorityProfile,
  readAbsolutePath,
  readMilliseconds,
} from '@directory-gateway/backstage-plugin-directory-node';

/** Key of the module's block of the configuration. */
export const BLOCK = 'directory.certificates.stepCa';

/** Extended key usages of users' certificates; the first is the default. */
const USAGES: readonly string[] = [
  'clientAuth',
  'emailProtection',
  'pkinitClientAuth',
  'smartcardLogon',
];

/** `directory.certificates.stepCa`. */
export interface StepCaConfig {
  /** Origin, for example `https://ca.example.org:9000`. */
  readonly url: string;
  /** Absolute path. */
  readonly rootFile: string;
  readonly provisioner: string;
  /** Absolute path. */
  readonly provisionerKeyFile: string;
  /** By name. */
  readonly profiles: ReadonlyMap<string, AuthorityProfile>;
  /** Maximum duration of a request, including the connection. */
  readonly requestTimeoutMs: number;
}

/**
 * Reads `directory.certificates.stepCa`, described in `config.d.ts`.
 *
 * @returns `undefined` when the block is missing
 * @throws InputError that names the invalid key.
 */
export function readStepCaConfig(root: Config): StepCaConfig | undefined {
  const config = root.getOptionalConfig(BLOCK);
  if (!config) {
    return undefined;
  }
  return Object.freeze({
    url: readUrl(config.getString('url')),
    rootFile:
      readAbsolutePath(config, 'rootFile', BLOCK) ??
      config.getString('rootFile'),
    provisioner: config.getOptionalString('provisioner') ?? 'directory-gateway',
    provisionerKeyFile:
      readAbsolutePath(config, 'provisionerKeyFile', BLOCK) ??
      config.getString('provisionerKeyFile'),
    profiles: readProfiles(config),
    requestTimeoutMs: 10_000,
  });
}

function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' || url.href !== `${url.origin}/`) {
    throw new InputError(
      `${BLOCK}.url must be a URL such as https://ca.example.org:9000, not "${text}"`,
    );
  }
  return url.origin;
}

function readProfiles(config: Config): ReadonlyMap<string, AuthorityProfile> {
  const blocks = config.getOptionalConfigArray('profiles') ?? [
    new ConfigReader({ name: 'userCerts' }),
  ];
  const profiles = new Map(
    blocks.map(block => [block.getString('name'), readProfile(block)]),
  );
  if (profiles.size === 0 || profiles.size < blocks.length) {
    throw new InputError(`${BLOCK}.profiles must have unique names`);
  }
  return profiles;
}

function readProfile(config: Config): AuthorityProfile {
  const key = `${BLOCK}.profiles`;
  const extendedKeyUsage =
    config.getOptionalStringArray('extendedKeyUsage') ?? USAGES.slice(0, 1);
  if (
    extendedKeyUsage.length === 0 ||
    !extendedKeyUsage.every(usage => USAGES.includes(usage))
  ) {
    throw new InputError(
      `${key}: extendedKeyUsage must be a list of ${USAGES.join(', ')}`,
    );
  }
  const validityMs = readMilliseconds(config, 'validity', {
    prefix: key,
    fallback: { days: 7 },
  });
  return Object.freeze({ validityMs, extendedKeyUsage });
}
