import { CertificateRequest } from '../request/CertificateRequest';
import { GeneralName } from '../names/readGeneralName';

const ALICE = {
  uid: 'alice',
  mail: ['alice@example.test'],
  principals: ['alice@EXAMPLE.TEST'],
};

/**
 * Applies the gateway's rules to a request from alice, to show that the parsed
 * request is sufficient for them.
 */
export function decideForAlice(request: CertificateRequest): 'sign' | 'reject' {
  const { commonNames, emailAddresses } = request.subject;
  const allowed =
    commonNames.length === 1 &&
    commonNames[0] === ALICE.uid &&
    emailAddresses.every(address => ALICE.mail.includes(address)) &&
    request.alternativeNames.every(mayHave);
  return allowed ? 'sign' : 'reject';
}

function mayHave(name: GeneralName): boolean {
  switch (name.kind) {
    case 'rfc822Name':
      return ALICE.mail.includes(name.value);
    case 'userPrincipalName':
    case 'krb5PrincipalName':
      return ALICE.principals.includes(name.value);
    default:
      return false;
  }
}
