import { SocketAddress } from 'node:net';
import { DerError } from '../der/DerError';
import {
  constructedContextTag,
  contextTag,
  DerNode,
  tagNumberOf,
} from '../der/DerNode';
import {
  readChildren,
  readObjectIdentifier,
  readOnlyChild,
} from '../der/readDer';
import { decodeObjectIdentifier } from '../der/objectIdentifier';
import { OID } from '../der/oids';
import { GeneralName } from './GeneralName';
import { formatKerberosPrincipal } from './formatKerberosPrincipal';
import { readKerberosPrincipal } from './readKerberosPrincipal';
import { readName } from './readName';
import { readUserPrincipalName } from './readUserPrincipalName';

/**
 * Reads one alternative name (RFC 5280 §4.2.1.6) and freezes it.
 *
 * @throws DerError when it is not what its tag promises
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

/** x400Address and ediPartyName; all others are no general names. */
function readUnsupported(node: DerNode): GeneralName {
  if (
    node.tag !== constructedContextTag(3) &&
    node.tag !== constructedContextTag(5)
  ) {
    throw new DerError('No kind of general name');
  }
  return { kind: 'unsupported', tagNumber: tagNumberOf(node) };
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
    throw new DerError('A general name with characters that it must not have');
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
