import { SocketAddress } from 'node:net';
import {
  DerError,
  DerNode,
  TAG,
  constructedContextTag,
  contextTag,
} from '../der/DerNode';
import {
  decodeObjectIdentifier,
  expectTag,
  readChildren,
  readInteger,
  readObjectIdentifier,
  readOnlyChild,
} from '../der/readDer';
import { OID } from '../der/oids';
import { DistinguishedName, readName } from './readName';
import { decodeText } from '../der/readText';

/**
 * The parts of a Kerberos principal (RFC 4120 §§5.2.2, 6.2).
 *
 * @public
 */
export interface KerberosPrincipal {
  /** `EXAMPLE.TEST`. */
  readonly realm: string;
  /** `NT-PRINCIPAL` is 1 (RFC 4120 §6.2). */
  readonly nameType: number;
  /** The parts of the name: `['host', 'build1.example.test']`. */
  readonly components: readonly string[];
}

/**
 * An alternative name (RFC 5280 §4.2.1.6).
 *
 * - `rfc822Name`, `dnsName`, `uri`: ASCII without spaces
 * - `userPrincipalName`: Microsoft's UPN, `alice@EXAMPLE.TEST`
 * - `krb5PrincipalName`: `value` is the text of the principal, with `\` before an `@`, `/` or `\`
 *   inside a part, so that different principals have different texts
 * - `ipAddress`: dotted decimal, or the text of RFC 5952
 * - `registeredId`: dotted decimal
 * - `otherName`: of any other type
 * - `unsupported`: of a kind that is not used in practice, or unreadable
 *
 * `base64` is the DER of an otherName's value.
 *
 * @public
 */
export type GeneralName =
  | {
      readonly kind:
        'rfc822Name' | 'dnsName' | 'uri' | 'ipAddress' | 'registeredId';
      readonly value: string;
    }
  | { readonly kind: 'directoryName'; readonly value: DistinguishedName }
  | {
      readonly kind: 'userPrincipalName';
      readonly value: string;
      readonly base64: string;
    }
  | {
      readonly kind: 'krb5PrincipalName';
      readonly value: string;
      readonly principal: KerberosPrincipal;
      readonly base64: string;
    }
  | {
      readonly kind: 'otherName';
      readonly oid: string;
      readonly base64: string;
    }
  | { readonly kind: 'unsupported' };

/**
 * Reads an alternative name (RFC 5280 §4.2.1.6). The result is frozen.
 *
 * @throws DerError when the content does not match the tag
 */
export function readGeneralName(node: DerNode): GeneralName {
  return Object.freeze(read(node));
}

function read(node: DerNode): GeneralName {
  switch (node.tag) {
    case constructedContextTag(0):
      return readOtherName(node);
    case contextTag(1):
      return { kind: 'rfc822Name', value: readAscii(node, /^[!-~]+@[!-~]+$/) };
    case contextTag(2):
      return { kind: 'dnsName', value: readAscii(node, /^[!-~]+$/) };
    case constructedContextTag(4):
      return {
        kind: 'directoryName',
        value: readName(readOnlyChild(node, node.tag)),
      };
    case contextTag(6):
      return { kind: 'uri', value: readAscii(node, /^[!-~]+$/) };
    case contextTag(7):
      return { kind: 'ipAddress', value: formatAddress(node.content) };
    case contextTag(8):
      return {
        kind: 'registeredId',
        value: decodeObjectIdentifier(node.content),
      };
    default:
      return readUnsupported(node);
  }
}

/** x400Address and ediPartyName; other tags are not general names. */
function readUnsupported(node: DerNode): GeneralName {
  if (
    node.tag !== constructedContextTag(3) &&
    node.tag !== constructedContextTag(5)
  ) {
    throw new DerError('Not a general name');
  }
  return { kind: 'unsupported' };
}

function readOtherName(node: DerNode): GeneralName {
  const [type, tagged, ...rest] = readChildren(node, node.tag);
  if (rest.length > 0) {
    throw new DerError('An otherName has a type and a value');
  }
  const oid = readObjectIdentifier(type);
  const value = readOnlyChild(tagged, constructedContextTag(0));
  const base64 = value.der.toString('base64');
  switch (oid) {
    case OID.userPrincipalName:
      return {
        kind: 'userPrincipalName',
        value: readUserPrincipalName(value),
        base64,
      };
    case OID.krb5PrincipalName: {
      const principal = readKerberosPrincipal(value);
      return {
        kind: 'krb5PrincipalName',
        value: formatKerberosPrincipal(principal),
        principal,
        base64,
      };
    }
    default:
      return { kind: 'otherName', oid, base64 };
  }
}

function readAscii(node: DerNode, grammar: RegExp): string {
  const text = node.content.toString('latin1');
  if (!grammar.test(text)) {
    throw new DerError('A general name has forbidden characters');
  }
  return text;
}

function formatAddress(octets: Buffer): string {
  switch (octets.length) {
    case 4:
      return octets.join('.');
    case 16: {
      const address = (octets.toString('hex').match(/.{4}/g) ?? []).join(':');
      return new SocketAddress({ address, family: 'ipv6' }).address;
    }
    default:
      throw new DerError('An IP address has 4 or 16 octets');
  }
}

/**
 * Reads a KRB5PrincipalName (RFC 4556 §3.2.2):
 *
 *     SEQUENCE { realm [0] Realm, principalName [1] SEQUENCE {
 *       name-type [0] Int32, name-string [1] SEQUENCE OF KerberosString } }
 *
 * @throws DerError unless every part is printable ASCII; RFC 4120 §5.2.1 leaves
 *   other characters to local agreement
 */
function readKerberosPrincipal(node: DerNode): KerberosPrincipal {
  const [realm, principalName] = readTagged(node);
  const [nameType, nameString] = readTagged(principalName);
  const components = readChildren(nameString).map(readKerberosString);
  if (components.length === 0) {
    throw new DerError('A Kerberos principal has no name');
  }
  return Object.freeze({
    realm: readKerberosString(realm),
    nameType: readInt32(nameType),
    components: Object.freeze(components),
  });
}

/** Returns the fields of a SEQUENCE { [0], [1] }. */
function readTagged(node: DerNode): [DerNode, DerNode] {
  const [first, second, ...rest] = readChildren(node);
  if (rest.length > 0) {
    throw new DerError('A Kerberos principal has additional fields');
  }
  return [
    readOnlyChild(first, constructedContextTag(0)),
    readOnlyChild(second, constructedContextTag(1)),
  ];
}

function readKerberosString(node: DerNode): string {
  const text = expectTag(node, TAG.generalString).content.toString('latin1');
  if (!/^[ -~]+$/.test(text)) {
    throw new DerError(
      'A part of a Kerberos principal is empty or not printable ASCII',
    );
  }
  return text;
}

function readInt32(node: DerNode): number {
  const value = readInteger(node);
  if (value !== BigInt.asIntN(32, value)) {
    throw new DerError('A name type has more than 32 bits');
  }
  return Number(value);
}

/** Reads a UPN: a UTF8String ([MS-WCCE] §2.2.2.7.5). */
function readUserPrincipalName(node: DerNode): string {
  const text = decodeText(expectTag(node, TAG.utf8String).content, 'utf8');
  if (text === '' || /\p{Cc}/u.test(text)) {
    throw new DerError('A UPN is empty or contains control characters');
  }
  return text;
}

/**
 * Formats a principal as `krb5_unparse_name` does:
 * `host/build1.example.test@EXAMPLE.TEST`, with `\` before separators inside a
 * part. The component `alice@EXAMPLE.TEST` of another realm therefore cannot be
 * mistaken for alice's principal.
 */
export function formatKerberosPrincipal({
  components,
  realm,
}: Pick<KerberosPrincipal, 'components' | 'realm'>): string {
  return `${components.map(escape).join('/')}@${escape(realm)}`;
}

function escape(part: string): string {
  return part.replace(/[\\/@]/g, '\\$&');
}
