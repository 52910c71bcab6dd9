import { CertificationRequest, Extensions, type GeneralName } from 'pkijs';
import { describeKey, formatName } from '../details/readCertificate';
import { fromPem } from '../pem';

/** What a request asks for. */
export interface ReadRequest {
  subject: string;

  /** For example `EC P-256` or `RSA 3072`. */
  key: string;

  /** Alternative names that are text: e-mail addresses, hosts, URIs. */
  names: readonly string[];

  /** Whether it is signed with the key that it asks to be certified. */
  isProven: boolean;
}

const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';
const ALTERNATIVE_NAMES = '2.5.29.17';

/** RFC 5280 §4.2.1.6: rfc822Name, dNSName, uniformResourceIdentifier. */
const TEXTUAL = [1, 2, 6];

/**
 * Reads a request (PKCS#10) for a preview; what decides is the check.
 *
 * @throws Error when the text is none
 */
export async function readRequest(pem: string): Promise<ReadRequest> {
  const request = CertificationRequest.fromBER(fromPem(pem));
  return {
    subject: formatName(request.subject),
    key: describeKey(request.subjectPublicKeyInfo),
    names: readNames(request),
    // An unusual key cannot be verified here: the server can.
    isProven: await request.verify().catch(() => false),
  };
}

function readNames(request: CertificationRequest): string[] {
  const asked = request.attributes?.find(
    ({ type }) => type === EXTENSION_REQUEST,
  );
  const sequence = asked?.values[0];
  if (!sequence) {
    return [];
  }
  const { extensions } = new Extensions({ schema: sequence });
  const names: readonly GeneralName[] =
    extensions.find(({ extnID }) => extnID === ALTERNATIVE_NAMES)?.parsedValue
      ?.altNames ?? [];
  return names.flatMap(({ type, value }) =>
    TEXTUAL.includes(type) ? [String(value)] : [],
  );
}
