import { LdifEntry, type LdifValue } from './LdifEntry';

/**
 * The printable part of RFC 2849's SAFE-STRING, without a blank at the end,
 * which some readers drop.
 */
const SAFE = /^(?![ :<])[ -~]*(?<! )$/;

/** One entry as an LDIF content record, with the empty line that ends it. */
export function formatLdif(entry: LdifEntry): string {
  const lines = [line('dn', entry.dn)];
  for (const [name, values] of entry) {
    for (const value of values) {
      lines.push(line(name, value));
    }
  }
  return `${lines.join('\n')}\n\n`;
}

function line(name: string, value: LdifValue): string {
  if (typeof value === 'string' && SAFE.test(value)) {
    return `${name}: ${value}`;
  }
  const octets = typeof value === 'string' ? Buffer.from(value, 'utf8') : value;
  return `${name}:: ${octets.toString('base64')}`;
}
