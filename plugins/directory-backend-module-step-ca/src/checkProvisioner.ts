import { KEY_PURPOSES, type KeyPurpose } from '@directory-gateway/x509';
import { isDeepStrictEqual } from 'node:util';
import type { StepCaConfig } from './StepCaConfig';

/** Key usages that step-ca's templates know by name. */
const NAMED_USAGES: readonly string[] = ['clientAuth', 'emailProtection'];

const HOUR_MS = 3_600_000;

/** A provisioner in the response of `GET /provisioners`, not validated. */
interface Provisioner {
  readonly type?: unknown;
  readonly name?: unknown;
  /** Only in JWK provisioners. */
  readonly key?: { readonly kid?: unknown };
  readonly encryptedKey?: unknown;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly options?: {
    readonly x509?: {
      readonly templateFile?: unknown;
      readonly templateData?: {
        readonly directory?: { readonly profiles?: Record<string, unknown> };
      };
    };
  };
}

/**
 * Returns what makes the gateway's provisioner unsafe, in sentences without a
 * period; empty when it is safe. The response does not contain the defaults in
 * `authority.claims`, so that the provisioner itself must set each claim.
 *
 * @param kid - ID of the provisioner's key (RFC 7517 §4.5)
 */
export function checkProvisioner(
  provisioners: readonly Provisioner[],
  kid: string,
  { provisioner: name, profiles }: StepCaConfig,
): readonly string[] {
  const provisioner = provisioners.find(
    each => each?.type === 'JWK' && each.name === name && each.key?.kid === kid,
  );
  if (!provisioner) {
    return [`step-ca has no JWK provisioner "${name}" with the key ${kid}`];
  }
  const { claims, encryptedKey, options: { x509 } = {} } = provisioner;
  const longest = Math.max(
    ...[...profiles.values()].map(({ validityMs }) => validityMs),
  );
  const requirements: Record<string, boolean> = {
    'claims.disableRenewal must be true: step-ca would renew certificates that the gateway no longer allows':
      claims?.disableRenewal === true,
    'claims.disableSmallstepExtensions must not be set: step-ca would renew certificates in spite of disableRenewal':
      !claims?.disableSmallstepExtensions,
    [`claims.maxTLSCertDuration must be at least ${Math.ceil(longest / HOUR_MS)}h, the validity of the longest profile`]:
      readDuration(claims?.maxTLSCertDuration) >= longest,
    'claims.enableSSHCA must be false: the key of the provisioner would also sign SSH certificates':
      claims?.enableSSHCA === false,
    'encryptedKey must be removed: step-ca returns it to every client, who can then guess its password':
      !encryptedKey,
    'options.x509.templateFile must be directory-gateway.tpl: the default template certifies host names':
      Boolean(x509?.templateFile),
  };
  for (const [profile, { extendedKeyUsage }] of profiles) {
    const usages = extendedKeyUsage.map(usage =>
      NAMED_USAGES.includes(usage) ? usage : KEY_PURPOSES[usage as KeyPurpose],
    );
    const allowed = x509?.templateData?.directory?.profiles?.[profile];
    requirements[
      `options.x509.templateData.directory.profiles.${profile} must be ${JSON.stringify(usages)}, as in the configuration of the gateway`
    ] = isDeepStrictEqual(allowed, usages);
  }
  return Object.keys(requirements).filter(each => !requirements[each]);
}

/** Reads a duration of Go in hours, such as `168h0m0s`, in milliseconds. */
function readDuration(duration: unknown): number {
  const hours = /^(\d+)h/.exec(String(duration))?.[1];
  return hours === undefined ? NaN : Number(hours) * HOUR_MS;
}
