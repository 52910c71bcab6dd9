/** A DN in the one form that this module makes, as most DNs are already. */
const NORMAL = /^[a-z0-9]+=[a-z0-9._-]+(,[a-z0-9]+=[a-z0-9._-]+)*$/;

/**
 * A key under which two spellings of one DN meet: lower case, no optional
 * blanks, every character that could be escaped in one form (RFC 4514 §3). Made
 * for comparing, not for sending.
 */
export function normalizeDn(dn: string): string {
  const lower = dn.toLowerCase();
  if (NORMAL.test(lower)) {
    return lower;
  }
  return splitUnescaped(lower, /[,;]/)
    .map(rdn => splitUnescaped(rdn, /\+/).map(normalizePair).join('+'))
    .join(',');
}

function normalizePair(pair: string): string {
  const equals = pair.indexOf('=');
  const type = pair.slice(0, equals).trim();
  const value = unescape(pair.slice(equals + 1)).toLowerCase();
  return `${type}=${value.replace(/[^a-z0-9._-]/gu, percentEncode)}`;
}

function percentEncode(char: string): string {
  const hex = Buffer.from(char, 'utf8').toString('hex');
  return hex.replace(/../g, '%$&');
}

/** Splits where the separator is neither escaped nor quoted. */
function splitUnescaped(text: string, separator: RegExp): string[] {
  const parts = [''];
  let quoted = false;
  for (let index = 0; index < text.length; index += 1) {
    const char = text[index];
    if (char === '\\') {
      parts[parts.length - 1] += char + (text[index + 1] ?? '');
      index += 1;
    } else if (!quoted && separator.test(char)) {
      parts.push('');
    } else {
      quoted = char === '"' ? !quoted : quoted;
      parts[parts.length - 1] += char;
    }
  }
  return parts;
}

function unescape(escaped: string): string {
  const trimmed = escaped.replace(/^ +/, '').replace(/(?<!\\) +$/, '');
  const bare = trimmed.replace(/^"(.*)"$/s, '$1');
  const octets: number[] = [];
  for (const [token, hex, char] of bare.matchAll(/\\([0-9a-f]{2})|\\?(.)/gsu)) {
    if (hex) {
      octets.push(Number.parseInt(hex, 16));
    } else {
      octets.push(...Buffer.from(char ?? token, 'utf8'));
    }
  }
  return Buffer.from(octets).toString('utf8');
}
