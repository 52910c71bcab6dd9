import 'reflect-metadata';
import { createHash } from 'node:crypto';
import { Certificate } from '@directory-gateway/x509';
import * as peculiar from '@peculiar/x509';

/** A DER value (X.690 §8.1). */
interface Node {
  readonly tag: number;
  readonly der: Buffer;
  readonly content: Buffer;
}

function readNodes(bytes: Buffer): Node[] {
  const nodes: Node[] = [];
  let at = 0;
  while (at < bytes.length) {
    const start = at;
    const tag = bytes[at];
    let length = bytes[at + 1];
    at += 2;
    if (length >= 0x80) {
      const count = length - 0x80;
      length = bytes.readUIntBE(at, count);
      at += count;
    }
    const content = bytes.subarray(at, at + length);
    at += length;
    nodes.push({ tag, der: bytes.subarray(start, at), content });
  }
  return nodes;
}

interface Extension {
  readonly oid: string;
  readonly critical: boolean;
  readonly value: Node;
}

/** The encoded structure of a certificate (RFC 5280 §4.1). */
interface Encoded {
  readonly tbs: readonly Node[];
  readonly version: Buffer;
  readonly serialNumber: Buffer;
  readonly innerAlgorithm: Node;
  readonly outerAlgorithm: Node;
  readonly issuer: Node;
  readonly validity: readonly Node[];
  readonly subject: readonly {
    readonly oid: string;
    readonly value: string;
  }[];
  readonly spki: readonly Node[];
  readonly extensions: readonly Extension[];
  find(oid: string): Extension | undefined;
}

const BOOLEAN = 0x01;
const UTC_TIME = 0x17;

function encodedOf(der: Buffer): Encoded {
  const [certificate] = readNodes(der);
  const [tbsNode, outerAlgorithm] = readNodes(certificate.content);
  const tbs = readNodes(tbsNode.content);
  const [version, serialNumber, innerAlgorithm, issuer, validity, subject] =
    tbs;
  const extensions = readNodes(readNodes(tbs[7].content)[0].content).map(
    ({ content }) => {
      const [oid, ...rest] = readNodes(content);
      const [value] = readNodes(rest[rest.length - 1].content);
      return {
        oid: oid.content.toString('hex'),
        critical: rest[0].tag === BOOLEAN && rest[0].content[0] !== 0,
        value,
      };
    },
  );
  return {
    tbs,
    version: readNodes(version.content)[0].content,
    serialNumber: serialNumber.content,
    innerAlgorithm,
    outerAlgorithm,
    issuer,
    validity: readNodes(validity.content),
    subject: readNodes(subject.content).flatMap(rdn =>
      readNodes(rdn.content).map(attribute => {
        const [oid, value] = readNodes(attribute.content);
        return {
          oid: oid.content.toString('hex'),
          value: value.content.toString('utf8'),
        };
      }),
    ),
    spki: readNodes(tbs[6].content),
    extensions,
    find: oid => extensions.find(extension => extension.oid === oid),
  };
}

/** Content of object identifiers, hex. */
const OID = {
  commonName: '550403',
  organization: '55040a',
  subjectKeyIdentifier: '551d0e',
  keyUsage: '551d0f',
  alternativeName: '551d11',
  basicConstraints: '551d13',
  crlDistributionPoints: '551d1f',
  certificatePolicies: '551d20',
  authorityKeyIdentifier: '551d23',
  extendedKeyUsage: '551d25',
  informationAccess: '2b06010505070101',
  rsa: '2a864886f70d010101',
  ecPublicKey: '2a8648ce3d0201',
  caIssuers: '2b06010505073002',
} as const;

const CURVES = ['2a8648ce3d030107', '2b81040022', '2b81040023'];

/** Bits of the first octet of KeyUsage (RFC 5280 §4.2.1.3). */
const KEY_CERT_SIGN = 0x04;
const CRL_SIGN = 0x02;

function keyUsageOf(certificate: Encoded): number {
  return certificate.find(OID.keyUsage)?.value.content[1] ?? 0;
}

function rsaKeyOf({ spki }: Encoded): readonly bigint[] | undefined {
  const [algorithm, key] = spki;
  return readNodes(algorithm.content)[0].content.toString('hex') === OID.rsa
    ? readNodes(readNodes(key.content.subarray(1))[0].content).map(
        ({ content }) => BigInt(`0x${content.toString('hex')}`),
      )
    : undefined;
}

/** URLs of CRLs; `undefined` for a distribution point without a URL. */
function crlUrlsOf(certificate: Encoded): (string | undefined)[] {
  const points = certificate.find(OID.crlDistributionPoints)?.value.content;
  return readNodes(points ?? Buffer.alloc(0)).map(point => {
    const [name] = readNodes(point.content);
    const [full] = readNodes(name?.content ?? Buffer.alloc(0));
    const [url] = readNodes(full?.content ?? Buffer.alloc(0));
    return url?.tag === 0x86 ? url.content.toString() : undefined;
  });
}

/** Methods and locations of AuthorityInfoAccess. */
function accessOf(certificate: Encoded): { method: string; url: string }[] {
  const access = certificate.find(OID.informationAccess)?.value.content;
  return readNodes(access ?? Buffer.alloc(0)).map(description => {
    const [method, location] = readNodes(description.content);
    return {
      method: method.content.toString('hex'),
      url: location?.content.toString() ?? '',
    };
  });
}

function alternativeNamesOf(certificate: Encoded): Node[] | undefined {
  const found = certificate.find(OID.alternativeName);
  return found && readNodes(found.value.content);
}

function has(oid: string): (certificate: Encoded) => boolean {
  return certificate => certificate.find(oid) !== undefined;
}

function isCritical(oid: string): (certificate: Encoded) => boolean {
  return certificate => certificate.find(oid)?.critical === true;
}

function not(predicate: (certificate: Encoded) => boolean) {
  return (certificate: Encoded) => !predicate(certificate);
}

function namesAtMost(oid: string, length: number) {
  return ({ subject }: Encoded) =>
    subject.every(
      attribute => attribute.oid !== oid || attribute.value.length <= length,
    );
}

/**
 * Lints of zlint, by name, that apply to a user certificate of a private CA;
 * true: the certificate passes.
 *
 * The other lints do not apply: those of the CA/Browser Forum on server names
 * (`e_dnsname_*`, `e_ext_san_dns_*`), on issuance policies of public CAs
 * (`e_sub_cert_certificate_policies_missing`, `e_cab_*`, `e_sub_cert_valid_time_*`),
 * on certificate transparency (`w_ct_*`) and OCSP
 * (`e_sub_cert_aia_does_not_contain_ocsp_url`: there is no OCSP); those on
 * extensions that are not written (`e_name_constraint_*`, `e_ext_ian_*`,
 * `e_ext_policy_*`, `e_ext_freshest_crl_*`); and those on CA certificates and
 * CRLs.
 */
const LINTS: Readonly<Record<string, (certificate: Encoded) => boolean>> = {
  e_cert_extensions_version_not_3: ({ version }) =>
    version.equals(Buffer.of(2)),
  e_cert_contains_unique_identifier: ({ tbs }) =>
    tbs.every(({ tag }) => ![0x81, 0xa1, 0x82, 0xa2].includes(tag)),
  e_cert_sig_alg_not_match_tbs_sig_alg: certificate =>
    certificate.innerAlgorithm.der.equals(certificate.outerAlgorithm.der),
  e_serial_number_longer_than_20_octets: ({ serialNumber }) =>
    serialNumber.length <= 20,
  e_serial_number_not_positive: ({ serialNumber }) =>
    serialNumber[0] < 0x80 && serialNumber.some(octet => octet > 0),
  e_issuer_field_empty: ({ issuer }) => issuer.content.length > 0,
  e_utc_time_not_in_zulu: ({ validity }) =>
    validity.every(({ content }) => content.toString().endsWith('Z')),
  e_utc_time_does_not_include_seconds: ({ validity }) =>
    validity.every(
      ({ tag, content }) => content.length === (tag === UTC_TIME ? 13 : 15),
    ),
  e_generalized_time_includes_fraction_seconds: ({ validity }) =>
    validity.every(({ content }) => !content.includes('.')),
  e_wrong_time_format_pre2050: ({ validity }) =>
    validity.every(
      ({ tag, content }) =>
        tag === UTC_TIME || Number(content.toString().slice(0, 4)) >= 2050,
    ),
  e_subject_common_name_max_length: namesAtMost(OID.commonName, 64),
  e_subject_organization_name_max_length: namesAtMost(OID.organization, 64),
  e_subject_dn_not_printable_characters: ({ subject }) =>
    subject.every(({ value }) => !/\p{Cc}/u.test(value)),
  w_subject_dn_leading_whitespace: ({ subject }) =>
    subject.every(({ value }) => !/^\s/.test(value)),
  w_subject_dn_trailing_whitespace: ({ subject }) =>
    subject.every(({ value }) => !/\s$/.test(value)),
  e_ext_duplicate_extension: ({ extensions }) =>
    new Set(extensions.map(({ oid }) => oid)).size === extensions.length,
  e_ext_cannot_be_empty_seq: ({ extensions }) =>
    extensions.every(
      ({ oid, value }) =>
        oid === OID.basicConstraints || value.content.length > 0,
    ),
  e_ext_authority_key_identifier_missing: has(OID.authorityKeyIdentifier),
  e_ext_authority_key_identifier_no_key_identifier: certificate => {
    const { value } = certificate.find(OID.authorityKeyIdentifier)!;
    return readNodes(value.content)[0]?.tag === 0x80;
  },
  e_ext_authority_key_identifier_critical: not(
    isCritical(OID.authorityKeyIdentifier),
  ),
  w_ext_subject_key_identifier_missing_sub_cert: has(OID.subjectKeyIdentifier),
  e_ext_subject_key_identifier_critical: not(
    isCritical(OID.subjectKeyIdentifier),
  ),
  e_ext_key_usage_without_bits: certificate => keyUsageOf(certificate) !== 0,
  w_ext_key_usage_not_critical: isCritical(OID.keyUsage),
  e_ext_key_usage_cert_sign_without_ca: certificate =>
    (keyUsageOf(certificate) & KEY_CERT_SIGN) === 0,
  e_sub_cert_key_usage_cert_sign_bit_set: certificate =>
    (keyUsageOf(certificate) & KEY_CERT_SIGN) === 0,
  e_sub_cert_key_usage_crl_sign_bit_set: certificate =>
    (keyUsageOf(certificate) & CRL_SIGN) === 0,
  e_sub_cert_not_is_ca: certificate =>
    certificate.find(OID.basicConstraints)?.value.content.length === 0,
  e_path_len_constraint_improperly_included: certificate =>
    certificate.find(OID.basicConstraints)?.value.content.length === 0,
  e_sub_cert_eku_missing: has(OID.extendedKeyUsage),
  w_eku_critical_improperly: not(isCritical(OID.extendedKeyUsage)),
  e_ext_san_no_entries: certificate =>
    alternativeNamesOf(certificate)?.length !== 0,
  e_ext_san_empty_name: certificate =>
    (alternativeNamesOf(certificate) ?? []).every(
      ({ content }) => content.length > 0,
    ),
  w_ext_san_critical_with_subject_dn: not(isCritical(OID.alternativeName)),
  e_ext_san_rfc822_format_invalid: certificate =>
    (alternativeNamesOf(certificate) ?? []).every(
      ({ tag, content }) =>
        tag !== 0x81 || /^[^@\s<>]+@[^@\s<>]+$/.test(content.toString()),
    ),
  e_distribution_point_incomplete: certificate =>
    crlUrlsOf(certificate).every(url => url !== undefined),
  w_distribution_point_missing_ldap_or_uri: certificate =>
    crlUrlsOf(certificate).every(url => /^(https?|ldap):/.test(url ?? '')),
  e_sub_cert_crl_distribution_points_does_not_contain_url: certificate =>
    crlUrlsOf(certificate).some(url => url?.startsWith('http')),
  e_sub_cert_crl_distribution_points_marked_critical: not(
    isCritical(OID.crlDistributionPoints),
  ),
  e_crl_distrib_points_not_http: certificate =>
    crlUrlsOf(certificate).every(url => url?.startsWith('http://')),
  e_ext_aia_marked_critical: not(isCritical(OID.informationAccess)),
  w_ext_aia_access_location_missing: certificate =>
    accessOf(certificate).every(({ url }) => url !== ''),
  w_sub_cert_aia_does_not_contain_issuing_ca_url: certificate =>
    accessOf(certificate).some(({ method }) => method === OID.caIssuers),
  e_aia_unique_access_locations: certificate => {
    const urls = accessOf(certificate).map(({ url }) => url);
    return new Set(urls).size === urls.length;
  },
  e_ext_cert_policy_duplicate: certificate => {
    const value = certificate.find(OID.certificatePolicies)?.value.content;
    const policies = readNodes(value ?? Buffer.alloc(0)).map(({ content }) =>
      readNodes(content)[0].der.toString('hex'),
    );
    return new Set(policies).size === policies.length;
  },
  e_rsa_mod_less_than_2048_bits: certificate => {
    const [modulus] = rsaKeyOf(certificate) ?? [];
    return modulus === undefined || modulus >= 1n << 2047n;
  },
  w_rsa_mod_not_odd: certificate => {
    const [modulus] = rsaKeyOf(certificate) ?? [];
    return modulus === undefined || modulus % 2n === 1n;
  },
  w_rsa_public_exponent_not_in_range: certificate => {
    const [, exponent] = rsaKeyOf(certificate) ?? [];
    return (
      exponent === undefined ||
      (exponent % 2n === 1n && exponent >= 65537n && exponent < 1n << 256n)
    );
  },
  e_spki_rsa_encryption_parameter_not_null: certificate => {
    const [, parameters] = readNodes(certificate.spki[0].content);
    return !rsaKeyOf(certificate) || parameters?.tag === 0x05;
  },
  e_ec_improper_curves: ({ spki }) => {
    const [algorithm, parameters] = readNodes(spki[0].content);
    return (
      algorithm.content.toString('hex') !== OID.ecPublicKey ||
      CURVES.includes(parameters.content.toString('hex'))
    );
  },
};

/**
 * Checks a user's certificate with {@link LINTS}, and compares what
 * `@peculiar/x509` reads with the description of the certificate.
 *
 * @throws Error that names the lints and fields.
 */
export function lintCertificate(der: Buffer): void {
  const encoded = encodedOf(der);
  const failed = Object.keys(LINTS).filter(name => !LINTS[name](encoded));
  const faults = [...failed, ...differencesOf(der)];
  if (faults.length > 0) {
    throw new Error(
      `Lints and fields: ${faults.join(', ')} of ${der.toString('base64')}`,
    );
  }
}

/** Fields that `@peculiar/x509` reads differently. */
function differencesOf(der: Buffer): string[] {
  const { description } = new Certificate(der);
  if (!description.ok) {
    return [description.code];
  }
  const own = description.certificate;
  const other = new peculiar.X509Certificate(der);
  const get = <T extends peculiar.Extension>(type: new (raw: Buffer) => T) =>
    other.extensions.find(
      (extension): extension is T => extension instanceof type,
    );
  const names = get(peculiar.SubjectAlternativeNameExtension)?.names.items;
  const pairs: Readonly<Record<string, readonly [unknown, unknown]>> = {
    serialNumber: [own.serialNumber, BigInt(`0x${other.serialNumber}`)],
    // RFC 4514 reverses the order.
    subject: [own.subject.split(',').reverse().join(', '), other.subject],
    issuer: [own.issuer.split(',').reverse().join(', '), other.issuer],
    notBefore: [own.notBefore, other.notBefore.getTime()],
    notAfter: [own.notAfter, other.notAfter.getTime()],
    publicKey: [
      own.publicKey.sha256,
      createHash('sha256')
        .update(Buffer.from(other.publicKey.rawData))
        .digest('hex'),
    ],
    ca: [own.ca, get(peculiar.BasicConstraintsExtension)?.ca],
    keyUsage: [
      own.keyUsage?.reduce(
        (bits, usage) =>
          bits |
          peculiar.KeyUsageFlags[usage as keyof typeof peculiar.KeyUsageFlags],
        0,
      ),
      get(peculiar.KeyUsagesExtension)?.usages,
    ],
    extendedKeyUsage: [
      own.extendedKeyUsage?.length,
      get(peculiar.ExtendedKeyUsageExtension)?.usages.length,
    ],
    emails: [
      own.san.rfc822Name,
      (names ?? [])
        .filter(({ type }) => type === 'email')
        .map(({ value }) => value),
    ],
    // `@peculiar/x509` does not list names of unknown types.
    userPrincipalNames: [
      own.san.otherUpn,
      (names ?? [])
        .filter(({ type }) => type === 'upn')
        .map(({ value }) => value),
    ],
    subjectKeyIdentifier: [
      own.subjectKeyIdentifier,
      get(peculiar.SubjectKeyIdentifierExtension)?.keyId,
    ],
    authorityKeyIdentifier: [
      own.authorityKeyIdentifier,
      get(peculiar.AuthorityKeyIdentifierExtension)?.keyId,
    ],
    crlDistributionPoints: [
      own.crlDistributionPoints,
      get(peculiar.CRLDistributionPointsExtension)?.distributionPoints.flatMap(
        point =>
          (point.distributionPoint?.fullName ?? []).map(
            name => name.uniformResourceIdentifier,
          ),
      ),
    ],
    caIssuers: [
      own.caIssuers,
      get(peculiar.AuthorityInfoAccessExtension)?.caIssuers.map(
        ({ value }) => value,
      ),
    ],
    certificatePolicies: [
      own.certificatePolicies,
      get(peculiar.CertificatePolicyExtension)?.policies ?? [],
    ],
  };
  const text = (value: unknown) =>
    JSON.stringify(value, (_key, part) =>
      typeof part === 'bigint' ? String(part) : part,
    );
  return Object.entries(pairs).flatMap(([name, [ours, theirs]]) =>
    text(ours) === text(theirs)
      ? []
      : [`${name}: ${text(ours)} and ${text(theirs)}`],
  );
}
