import type { KerberosPrincipal } from '@directory-gateway/x509';

/** NT-PRINCIPAL (RFC 4120 §6.2): a user, as `kinit` asks for one. */
const NT_PRINCIPAL = 1;

/** A part: characters that separate nothing, or are escaped. */
const PART = String.raw`(?:[^\\/@]|\\[\\/@])+`;
const PRINCIPAL = new RegExp(`^(${PART}(?:/${PART})*)@(${PART})$`);

/**
 * Reads a principal as Kerberos writes it, `name@REALM`, with `\` before an
 * `@`, `/` or `\` inside of a part.
 *
 * @throws RangeError when it is not one.
 */
export function parsePrincipalName(text: string): KerberosPrincipal {
  const [, name, realm] = PRINCIPAL.exec(text) ?? [];
  if (name === undefined) {
    throw new RangeError('A principal name must be of the form name@REALM');
  }
  return {
    realm: unescapePart(realm),
    nameType: NT_PRINCIPAL,
    components: (name.match(new RegExp(PART, 'g')) ?? []).map(unescapePart),
  };
}

function unescapePart(part: string): string {
  return part.replace(/\\(.)/g, '$1');
}
