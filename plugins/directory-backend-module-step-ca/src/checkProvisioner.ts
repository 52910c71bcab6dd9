import type { AuthorityProfile } from '@directory-gateway/backstage-plugin-directory-node';
import { KEY_PURPOSES, type KeyPurpose } from '@directory-gateway/x509';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

/** Key usages that step-ca's templates know by name. */
const NAMED_USAGES: readonly string[] = ['clientAuth', 'emailProtection'];

const HOUR_MS = 3_600_000;

/** The response of `GET /provisioners`; only JWK provisioners have a `key`. */
export const provisionersSchema = z.object({
  provisioners: z.array(
    z.object({
      type: z.string(),
      name: z.string(),
      key: z.object({ kid: z.string() }).optional(),
      encryptedKey: z.string().optional(),
      claims: z
        .object({
          maxTLSCertDuration: z.string().optional(),
          disableRenewal: z.boolean().optional(),
          enableSSHCA: z.boolean().optional(),
        })
        .optional(),
      options: z
        .object({
          x509: z
            .object({
              template: z.string().optional(),
              templateFile: z.string().optional(),
              templateData: z
                .object({
                  directory: z
                    .object({
                      profiles: z.record(z.string(), z.array(z.string())),
                    })
                    .optional(),
                })
                .optional(),
            })
            .optional(),
        })
        .optional(),
    }),
  ),
});

/**
 * Returns what makes the gateway's provisioner unsafe, as sentences without a
 * period; empty when it is safe. `GET /provisioners` does not contain the
 * defaults of `authority.claims`, so that the provisioner itself must set each
 * claim.
 *
 * @param options - `name` and `kid` identify the provisioner; `profiles`: the
 *   profiles of the gateway
 */
export function checkProvisioner(
  { provisioners }: z.infer<typeof provisionersSchema>,
  options: {
    readonly name: string;
    readonly kid: string;
    readonly profiles: ReadonlyMap<string, AuthorityProfile>;
  },
): readonly string[] {
  const { name, kid, profiles } = options;
  const provisioner = provisioners.find(
    each => each.type === 'JWK' && each.name === name && each.key?.kid === kid,
  );
  if (!provisioner) {
    return [`step-ca has no JWK provisioner "${name}" with the key ${kid}`];
  }
  const { claims = {}, options: { x509 = {} } = {} } = provisioner;
  const longest = Math.max(
    ...[...profiles.values()].map(({ validityMs }) => validityMs),
  );
  const problems: string[] = [];
  if (claims.disableRenewal !== true) {
    problems.push(
      'claims.disableRenewal must be true: step-ca would renew certificates that the gateway no longer allows',
    );
  }
  if (!(readDuration(claims.maxTLSCertDuration) >= longest)) {
    problems.push(
      `claims.maxTLSCertDuration must be at least ${Math.ceil(
        longest / HOUR_MS,
      )}h, the validity of the longest profile`,
    );
  }
  if (claims.enableSSHCA !== false) {
    problems.push(
      'claims.enableSSHCA must be false: the key of the provisioner would also sign SSH certificates',
    );
  }
  if (provisioner.encryptedKey) {
    problems.push(
      'encryptedKey must be removed: step-ca returns it to every client, who can then guess its password',
    );
  }
  if (!x509.template && !x509.templateFile) {
    problems.push(
      'options.x509.templateFile must be directory-gateway.tpl: the default template certifies host names',
    );
  }
  for (const [profile, { extendedKeyUsage }] of profiles) {
    const usages = extendedKeyUsage.map(usage =>
      NAMED_USAGES.includes(usage) ? usage : KEY_PURPOSES[usage as KeyPurpose],
    );
    const allowed = x509.templateData?.directory?.profiles[profile];
    if (!isDeepStrictEqual(allowed?.toSorted(), usages.toSorted())) {
      problems.push(
        `options.x509.templateData.directory.profiles.${profile} must be ${JSON.stringify(
          usages,
        )}, as in the configuration of the gateway`,
      );
    }
  }
  return problems;
}

/**
 * Reads a duration as Go formats it, for example `168h0m0s`.
 *
 * @returns milliseconds; `NaN` when it is missing or has other units
 */
function readDuration(text = ''): number {
  const match = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?$/.exec(text);
  if (!match || text === '') {
    return NaN;
  }
  const [hours, minutes, seconds] = match
    .slice(1)
    .map(number => Number(number ?? 0));
  return ((hours * 60 + minutes) * 60 + seconds) * 1000;
}
