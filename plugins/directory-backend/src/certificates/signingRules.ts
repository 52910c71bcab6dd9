import type { CertificateRequest, GeneralName } from '@directory-gateway/x509';
import type { Principal } from '../directory/Principal';
import { fail, pass, type RuleVerdict, type SigningRule } from './SigningRule';

/**
 * FreeIPA's rules for the names of a user's request, with the user's addresses
 * and principals from the directory.
 */
export function judgeNames(
  request: CertificateRequest,
  subject: Principal,
): readonly RuleVerdict[] {
  return [
    judgeCommonName(request, subject),
    judgeOwned({
      rule: 'email_address',
      asked: request.subject.emailAddresses,
      owned: subject.emails,
      what: 'E-mail addresses in the subject',
    }),
    judgeOwned({
      rule: 'rfc822_name',
      asked: valuesOf(request, 'rfc822Name'),
      owned: subject.emails,
      what: 'E-mail addresses among the alternative names',
    }),
    judgeOwned({
      rule: 'principal_name',
      asked: [
        ...valuesOf(request, 'userPrincipalName'),
        ...valuesOf(request, 'krb5PrincipalName'),
      ],
      owned: subject.principalNames,
      what: 'Principals among the alternative names',
    }),
    judgeOtherNames(request),
  ];
}

/** The values of the alternative names of a kind. */
export function valuesOf(
  request: CertificateRequest,
  kind: 'rfc822Name' | 'userPrincipalName' | 'krb5PrincipalName',
): readonly string[] {
  return request.alternativeNames.flatMap(name =>
    name.kind === kind ? [name.value] : [],
  );
}

function judgeCommonName(
  { subject: { commonNames } }: CertificateRequest,
  { username }: Principal,
): RuleVerdict {
  if (commonNames.length !== 1) {
    return fail('common_name', 'The subject must have exactly one CN.');
  }
  return commonNames[0] === username
    ? pass('common_name', 'The CN is the user name.')
    : fail('common_name', 'The CN must be the user name, to the letter.');
}

function judgeOwned(options: {
  readonly rule: SigningRule;
  readonly asked: readonly string[];
  readonly owned: readonly string[];
  readonly what: string;
}): RuleVerdict {
  const { rule, asked, owned, what } = options;
  if (asked.length === 0) {
    return pass(rule, `${what}: none.`);
  }
  return asked.every(value => owned.includes(value))
    ? pass(rule, `${what} are the user's own.`)
    : fail(rule, `${what} must be the user's own.`);
}

const ALLOWED: ReadonlySet<GeneralName['kind']> = new Set([
  'rfc822Name',
  'userPrincipalName',
  'krb5PrincipalName',
]);

function judgeOtherNames({
  alternativeNames,
}: CertificateRequest): RuleVerdict {
  const others = alternativeNames.filter(({ kind }) => !ALLOWED.has(kind));
  return others.length === 0
    ? pass('other_name', 'There is no other alternative name.')
    : fail(
        'other_name',
        `A user's certificate may not have alternative names of the kind ${others[0].kind}.`,
      );
}
