import {
  boolean,
  DerValue,
  encode,
  objectIdentifier,
  octetString,
  sequence,
} from '../der/writeDer';

/** Writes one extension (RFC 5280 §4.1); `critical` is left out when it is false, as DER has it. */
export function writeExtension(
  oid: string,
  value: DerValue,
  options: { critical: boolean } = { critical: false },
): DerValue {
  return sequence(
    objectIdentifier(oid),
    ...(options.critical ? [boolean(true)] : []),
    octetString(encode(value)),
  );
}
