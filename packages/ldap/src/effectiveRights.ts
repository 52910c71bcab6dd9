import { Control, type BerWriter, type Entry } from 'ldapts';
import { tags } from './connection/ldapMessages';
import { textOf } from './entryValues';

/**
 * Request control "get effective rights" (draft-ietf-ldapext-acl-model): the
 * attribute `attributeLevelRights` of each returned entry lists the rights of
 * an account on its attributes.
 */
export class GetEffectiveRightsControl extends Control {
  static readonly type = '1.3.6.1.4.1.42.2.27.9.5.2';

  readonly #authorizationId: string;

  constructor(dn: string) {
    super(GetEffectiveRightsControl.type, { critical: true });
    this.#authorizationId = `dn:${dn}`;
  }

  protected override writeControl(writer: BerWriter): void {
    writer.writeBuffer(Buffer.from(this.#authorizationId), tags.octetString);
  }
}

/**
 * Returns the attributes that the account may not read and search, from an
 * entry that was read with {@link GetEffectiveRightsControl}.
 */
export function missingRights(
  entry: Entry | undefined,
  attributes: readonly string[],
): readonly string[] {
  const rights = rightsOf(entry);
  return attributes.filter(attribute => {
    const granted = rights.get(attribute.toLowerCase()) ?? '';
    return !(granted.includes('r') && granted.includes('s'));
  });
}

/** Returns the rights in a result, such as `rsc`, by lower-case attribute. */
export function rightsOf(
  entry: Entry | undefined,
): ReadonlyMap<string, string> {
  // Format: `cn:rscwo, mail:rsc`.
  const text = (entry && textOf(entry, 'attributeLevelRights')) ?? '';
  return new Map(
    text.split(',').map(pair => {
      const [attribute, granted = ''] = pair.trim().split(':');
      return [attribute.toLowerCase(), granted];
    }),
  );
}
