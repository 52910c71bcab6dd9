import type { AuthorityProfile } from '@directory-gateway/backstage-plugin-directory-node';
import { Duration } from 'luxon';
import type { CertificateProfile } from '../../certificates/CertificateProfile';
import type { RecordModel } from '../response/fieldMask';

/** The keys of a certificate profile. */
export const profileModel: RecordModel = {
  keys: ['name', 'purpose', 'lifetime', 'extended_key_usage', 'is_default'],
  lists: new Set(['extended_key_usage']),
};

/** A certificate profile as the API shows it, with the given keys. */
export function presentProfile(
  profile: CertificateProfile,
  options: {
    /** In their order. */
    readonly keys: readonly string[];
    /** What the authority tells of it, if it does. */
    readonly known: AuthorityProfile | undefined;
    readonly isDefault: boolean;
  },
): Record<string, unknown> {
  const { keys, known, isDefault } = options;
  const values: Readonly<Record<string, unknown>> = {
    name: profile.name,
    purpose: profile.purpose ?? null,
    lifetime: known ? isoDurationOf(known.validityMs) : null,
    extended_key_usage: known?.extendedKeyUsage ?? null,
    is_default: isDefault,
  };
  return Object.fromEntries(keys.map(key => [key, values[key]]));
}

/** ISO 8601 in days and smaller, for months and years have no fixed length. */
function isoDurationOf(milliseconds: number): string | null {
  return Duration.fromMillis(milliseconds)
    .shiftTo('days', 'hours', 'minutes', 'seconds')
    .toISO();
}
