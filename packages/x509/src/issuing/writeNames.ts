import {
  encode,
  integer,
  objectIdentifier,
  sequence,
  tagged,
  taggedOctets,
  utf8String,
} from '../der/writeDer';
import { TAG } from '../der/DerNode';
import { OID } from '../der/oids';
import { KerberosPrincipal } from '../names/readGeneralName';

/**
 * An alternative name to be written.
 *
 * @public
 */
export type WritableGeneralName =
  | {
      readonly kind: 'rfc822Name' | 'uri' | 'userPrincipalName';
      readonly value: string;
    }
  | {
      readonly kind: 'krb5PrincipalName';
      readonly principal: KerberosPrincipal;
    };

/**
 * Writes an alternative name (RFC 5280 §4.2.1.6).
 *
 * @throws RangeError when a value is empty or has characters that its type forbids
 */
export function writeGeneralName(name: WritableGeneralName): Buffer {
  switch (name.kind) {
    case 'rfc822Name':
      return taggedOctets(1, matching(name.value, /^[!-~]+$/));
    case 'uri':
      return taggedOctets(6, matching(name.value, /^[!-~]+$/));
    case 'userPrincipalName':
      return otherName(
        OID.userPrincipalName,
        encode(TAG.utf8String, matching(name.value, /^\P{Cc}+$/u)),
      );
    default:
      return otherName(OID.krb5PrincipalName, writePrincipal(name.principal));
  }
}

function otherName(oid: string, value: Buffer): Buffer {
  return tagged(0, objectIdentifier(oid), tagged(0, value));
}

/** KRB5PrincipalName (RFC 4556 §3.2.2). */
function writePrincipal(principal: KerberosPrincipal): Buffer {
  const { realm, nameType, components } = principal;
  const name = sequence(
    tagged(0, integer(BigInt(nameType))),
    tagged(1, sequence(...components.map(kerberosString))),
  );
  return sequence(tagged(0, kerberosString(realm)), tagged(1, name));
}

function kerberosString(text: string): Buffer {
  return encode(TAG.generalString, matching(text, /^[ -~]+$/));
}

function matching(text: string, grammar: RegExp): Buffer {
  if (!grammar.test(text)) {
    throw new RangeError(
      'An alternative name is empty or has characters that its type forbids',
    );
  }
  return Buffer.from(text);
}

const ATTRIBUTE_OIDS = { CN: OID.commonName, O: OID.organization };

/** `ub-common-name` of RFC 5280 appendix A.1. */
const MAX_COMMON_NAME_LENGTH = 64;

/**
 * One part of a name to be written.
 *
 * @public
 */
export interface NamePart {
  /** Common name or organization. */
  readonly type: 'CN' | 'O';
  /** The text, without control characters. */
  readonly value: string;
}

/**
 * Writes a name (RFC 5280 §4.1.2.4): one attribute per relative name, as UTF8String.
 *
 * @param parts - in the order of the encoding, the most specific last: `O`, then `CN`
 * @throws RangeError when a value is empty, too long or has control characters
 */
export function writeName(parts: readonly NamePart[]): Buffer {
  return sequence(
    ...parts.map(({ type, value }) => {
      if (value === '' || /[\p{Cc}\p{Cs}]/u.test(value)) {
        throw new RangeError(
          `The value of ${type} in a name is empty or has unprintable characters`,
        );
      }
      if (type === 'CN' && [...value].length > MAX_COMMON_NAME_LENGTH) {
        throw new RangeError(
          `A common name must have at most ${MAX_COMMON_NAME_LENGTH} characters`,
        );
      }
      const oid = objectIdentifier(ATTRIBUTE_OIDS[type]);
      return encode(TAG.set, sequence(oid, utf8String(value)));
    }),
  );
}
