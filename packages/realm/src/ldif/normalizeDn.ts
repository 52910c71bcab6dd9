/**
 * A key under which two spellings of one DN meet: lower case, no optional
 * blanks, every escape in one form (RFC 4514 §3). Made for comparing, not for
 * sending.
 */
export function normalizeDn(dn: string): string {
  const lower = dn.toLowerCase();
  if (!/[\\"]/.test(lower)) {
    return lower.replace(/ *([,=+]) */g, '$1').trim();
  }
  return splitUnescaped(lower, /[,;]/)
    .map(rdn => splitUnescaped(rdn, /\+/).map(normalizePair).join('+'))
    .join(',');
}

function normalizePair(pair: string): string {
  const equals = pair.indexOf('=');
  const type = pair.slice(0, equals).trim();
  return `${type}=${encodeURIComponent(unescape(pair.slice(equals + 1)))}`;
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
  return Buffer.from(octets).toString('utf8').toLowerCase();
}
