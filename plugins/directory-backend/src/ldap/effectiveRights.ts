import { Control, type BerWriter, type Entry } from 'ldapts';
import { textOf } from './entryValues';

const OCTET_STRING = 0x04;

/**
 * The request control "get effective rights" (draft-ietf-ldapext-acl-model):
 * each entry of the answer says in `attributeLevelRights` what the named
 * account may do with its attributes.
 */
export class GetEffectiveRightsControl extends Control {
  static readonly type = '1.3.6.1.4.1.42.2.27.9.5.2';

  readonly #authorizationId: string;

  constructor(options: { readonly dn: string }) {
    super(GetEffectiveRightsControl.type, { critical: true });
    this.#authorizationId = `dn:${options.dn}`;
  }

  protected override writeControl(writer: BerWriter): void {
    writer.writeBuffer(Buffer.from(this.#authorizationId), OCTET_STRING);
  }
}

/**
 * Which of these attributes the account may not read and search, as an entry
 * itself says when it was asked for with the `GetEffectiveRightsControl`.
 */
export function missingRights(
  entry: Entry | undefined,
  attributes: readonly string[],
): readonly string[] {
  const rights = parseAttributeLevelRights(
    (entry && textOf(entry, 'attributeLevelRights')) ?? '',
  );
  return attributes.filter(attribute => {
    const granted = rights.get(attribute.toLowerCase()) ?? '';
    return !(granted.includes('r') && granted.includes('s'));
  });
}

/**
 * The rights on each attribute, by its name in lower case: `rscwo`, as 389
 * Directory Server writes them in `attributeLevelRights`.
 */
function parseAttributeLevelRights(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split(',').map(pair => {
      const [attribute, rights = ''] = pair.trim().split(':');
      return [attribute.toLowerCase(), rights];
    }),
  );
}
