import { OID } from '../der/oids';
import { GeneralName } from '../names/GeneralName';
import { AlternativeNamesByKind } from './CertificateDescription';

/** Sorts alternative names by kind, keeping their order. */
export function groupAlternativeNames(
  names: readonly GeneralName[],
): AlternativeNamesByKind {
  return Object.freeze({
    otherUpn: textsOf(names, 'userPrincipalName'),
    otherKpn: textsOf(names, 'krb5PrincipalName'),
    other: Object.freeze(names.flatMap(formatOtherName)),
    rfc822Name: textsOf(names, 'rfc822Name'),
    dnsName: textsOf(names, 'dnsName'),
    uri: textsOf(names, 'uri'),
    ipAddress: textsOf(names, 'ipAddress'),
    directoryName: textsOf(names, 'directoryName'),
    oid: textsOf(names, 'registeredId'),
  });
}

function textsOf(
  names: readonly GeneralName[],
  kind: GeneralName['kind'],
): readonly string[] {
  return Object.freeze(
    names.filter(name => name.kind === kind).flatMap(formatValue),
  );
}

function formatValue(name: GeneralName): string | [] {
  switch (name.kind) {
    case 'directoryName':
      return name.value.text;
    case 'otherName':
    case 'unsupported':
      return [];
    default:
      return name.value;
  }
}

function formatOtherName(name: GeneralName): string | [] {
  switch (name.kind) {
    case 'userPrincipalName':
    case 'krb5PrincipalName':
      return `${OID[name.kind]}:${name.base64}`;
    case 'otherName':
      return `${name.oid}:${name.base64}`;
    default:
      return [];
  }
}
