import {
  DerValue,
  generalString,
  integer,
  objectIdentifier,
  sequence,
  tagged,
  taggedOctets,
  utf8String,
} from '../der/writeDer';
import { OID } from '../der/oids';
import { KerberosPrincipal } from '../names/GeneralName';

/**
 * An alternative name to be written.
 *
 * @public
 */
export type WritableGeneralName =
  | {
      readonly kind: 'rfc822Name' | 'dnsName' | 'uri' | 'userPrincipalName';
      readonly value: string;
    }
  | {
      readonly kind: 'krb5PrincipalName';
      readonly principal: KerberosPrincipal;
    };

/**
 * Writes one alternative name (RFC 5280 §4.2.1.6).
 *
 * @throws RangeError when a value is empty or does not fit its type
 */
export function writeGeneralName(name: WritableGeneralName): DerValue {
  switch (name.kind) {
    case 'rfc822Name':
      return taggedOctets(1, toAscii(name.value));
    case 'dnsName':
      return taggedOctets(2, toAscii(name.value));
    case 'uri':
      return taggedOctets(6, toAscii(name.value));
    case 'userPrincipalName':
      return otherName(
        OID.userPrincipalName,
        utf8String(printable(name.value, /^\P{Cc}+$/u)),
      );
    default:
      return otherName(OID.krb5PrincipalName, writePrincipal(name.principal));
  }
}

function otherName(oid: string, value: DerValue): DerValue {
  return tagged(0, objectIdentifier(oid), tagged(0, value));
}

/** KRB5PrincipalName (RFC 4556 §3.2.2). */
function writePrincipal({
  realm,
  nameType,
  components,
}: KerberosPrincipal): DerValue {
  const strings = components.map(component =>
    generalString(printable(component, /^[ -~]+$/)),
  );
  return sequence(
    tagged(0, generalString(printable(realm, /^[ -~]+$/))),
    tagged(
      1,
      sequence(
        tagged(0, integer(BigInt(nameType))),
        tagged(1, sequence(...strings)),
      ),
    ),
  );
}

function toAscii(text: string): Buffer {
  return Buffer.from(printable(text, /^[!-~]+$/), 'latin1');
}

function printable(text: string, grammar: RegExp): string {
  if (!grammar.test(text)) {
    throw new RangeError(
      'An alternative name is empty or has characters that its type forbids',
    );
  }
  return text;
}
