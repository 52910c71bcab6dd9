import type { RelativeDistinguishedNames } from 'pkijs';

/** RFC 4514 §3, and those that certificates of people have besides. */
const types: Readonly<Record<string, string>> = {
  '2.5.4.3': 'CN',
  '2.5.4.6': 'C',
  '2.5.4.7': 'L',
  '2.5.4.8': 'ST',
  '2.5.4.10': 'O',
  '2.5.4.11': 'OU',
  '0.9.2342.19200300.100.1.1': 'UID',
  '0.9.2342.19200300.100.1.25': 'DC',
  '1.2.840.113549.1.9.1': 'emailAddress',
};

/** Writes a name the most specific part first (RFC 4514). */
export function formatName(name: RelativeDistinguishedNames): string {
  return name.typesAndValues
    .map(({ type, value }) => {
      const text = String(value.valueBlock.value);
      return `${types[type] ?? type}=${text.replace(/[",+;<>\\]/g, '\\$&')}`;
    })
    .reverse()
    .join(',');
}
