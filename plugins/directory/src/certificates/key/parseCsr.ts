import { CertificationRequest, Extensions, type GeneralName } from 'pkijs';
import { describeKey, formatName } from '../details/parseCertificate';
import { fromPem } from '../pem';

/** Contents of a CSR. */
export interface ParsedCsr {
  subject: string;

  /** For example `EC P-256` or `RSA 3072`. */
  key: string;

  /** Alternative names of textual kinds: e-mail addresses, host names, URIs. */
  names: readonly string[];

  /** Whether the CSR is signed with its own key. */
  isProven: boolean;
}

const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';
const ALTERNATIVE_NAMES = '2.5.29.17';

/** RFC 5280 §4.2.1.6: rfc822Name, dNSName, uniformResourceIdentifier. */
const TEXT_NAMES = [1, 2, 6];

/**
 * Parses a CSR (PKCS#10) for a preview; the server evaluates it.
 *
 * @throws Error when the text is not a CSR
 */
export async function parseCsr(pem: string): Promise<ParsedCsr> {
  const request = CertificationRequest.fromBER(fromPem(pem));
  return {
    subject: formatName(request.subject),
    key: describeKey(request.subjectPublicKeyInfo),
    names: alternativeNames(request),
    // The server can verify key types that the browser cannot.
    isProven: await request.verify().catch(() => false),
  };
}

function alternativeNames(request: CertificationRequest): string[] {
  const schema = request.attributes?.find(
    ({ type }) => type === EXTENSION_REQUEST,
  )?.values[0];
  if (!schema) {
    return [];
  }
  const { extensions } = new Extensions({ schema });
  const names: readonly GeneralName[] =
    extensions.find(({ extnID }) => extnID === ALTERNATIVE_NAMES)?.parsedValue
      ?.altNames ?? [];
  return names.flatMap(({ type, value }) =>
    TEXT_NAMES.includes(type) ? [String(value)] : [],
  );
}
