import { shortNameOf } from './attributeTypes';
import { NameAttribute } from './DistinguishedName';

/** Writes a name as RFC 4514 §2 has it: relative names from last to first. */
export function formatName(
  rdns: readonly (readonly NameAttribute[])[],
): string {
  return rdns
    .map(rdn => rdn.map(formatAttribute).join('+'))
    .reverse()
    .join(',');
}

function formatAttribute({ oid, value, hex }: NameAttribute): string {
  const name = shortNameOf(oid);
  return name && value !== undefined
    ? `${name}=${escapeValue(value)}`
    : `${name ?? oid}=#${hex}`;
}

/**
 * RFC 4514 §2.4. Control characters are escaped as well, which it leaves free, so that no value can
 * break a line or steer a terminal.
 */
function escapeValue(value: string): string {
  return value
    .replace(/^[ #]|["+,;<>\\]| $/g, '\\$&')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, escapeOctets);
}

function escapeOctets(character: string): string {
  return [...Buffer.from(character)]
    .map(octet => `\\${octet.toString(16).padStart(2, '0')}`)
    .join('');
}
