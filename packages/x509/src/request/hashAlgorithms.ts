import { OID } from '../der/oids';

/** A hash that may be signed, by its name in `node:crypto`. */
export type HashName = 'sha256' | 'sha384' | 'sha512';

/** The same by their OIDs (RFC 4055 §2.1). */
export const HASHES: ReadonlyMap<string, HashName> = new Map([
  [OID.sha256, 'sha256'],
  [OID.sha384, 'sha384'],
  [OID.sha512, 'sha512'],
]);
