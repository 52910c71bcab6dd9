import { CustomErrorBase } from '@backstage/errors';
import {
  AuthorityProtocolError,
  AuthorityRefusalError,
  AuthorityUnavailableError,
} from '@directory-gateway/backstage-plugin-directory-node';

/** Reason why a command failed. */
type Fault =
  /** The connection failed. */
  | 'unreachable'
  /** The server or Dogtag is down or slow. */
  | 'unavailable'
  /** The response is invalid, or an error that this module does not expect. */
  | 'protocol'
  /** The server does not know the session. */
  | 'session'
  /** FreeIPA rejects the gateway's account, on every server. */
  | 'credentials'
  /** The account lacks a permission, or a CA ACL or an ACI denies access. */
  | 'denied'
  /** The entry or the certificate does not exist. */
  | 'notFound'
  /** An option, the principal or the names in the CSR are invalid. */
  | 'invalid'
  /** Dogtag decided against the command. */
  | 'rejected'
  /** Dogtag does not revoke a certificate that is revoked or on hold. */
  | 'alreadyRevoked';

/**
 * Whether a failed command was executed. `perhaps`: it has ended, possibly after
 * the change; `pending`: it may still be running.
 */
type Executed = 'no' | 'perhaps' | 'pending';

/** A FreeIPA server did not return a result for a command. */
export class FreeIpaError extends CustomErrorBase {
  name = 'FreeIpaError' as const;

  /** Origin of the server, for example `https://ipa1.example.org`. */
  readonly server: string;
  readonly fault: Fault;
  /** Set to `no` by a login, which runs before the command. */
  executed: Executed;
  /** Whether another server may succeed. */
  readonly isRetryable: boolean;
  /** Code in FreeIPA's response (`ipalib/errors.py`), for example 4001. */
  readonly code?: number;
  /** FreeIPA's message, for example `alice: user not found`. */
  readonly text: string;

  /**
   * @param options - `executed`: default: `no`; `isRetryable`: default: without
   *   a code, unless the account is rejected
   */
  constructor(
    text: string,
    options: Pick<FreeIpaError, 'server' | 'fault' | 'code'> &
      Partial<Pick<FreeIpaError, 'executed' | 'isRetryable'>> & {
        readonly cause?: unknown;
      },
  ) {
    const { server, code } = options;
    super(`${server}: ${code ? `${code} ` : ''}${text}`, options.cause);
    this.server = server;
    this.fault = options.fault;
    this.executed = options.executed ?? 'no';
    this.isRetryable =
      options.isRetryable ??
      (options.code === undefined && options.fault !== 'credentials');
    this.code = code;
    this.text = text;
  }
}

/** Meaning of error codes: the first row with the code and the text applies. */
const MEANINGS: readonly [readonly number[], Fault, RegExp?, Executed?][] = [
  [[904, 905, 909, 911], 'protocol'], // version, command, JSON, `Referer`
  [[4001], 'protocol', /CA is not configured|Certificate Authority not found/i],
  // FreeIPA logs in to Dogtag before each change (`ca_show`). Up to 4.12, other
  // messages with this code can follow a signature (`ra.request_certificate`).
  [[4016], 'unavailable', /authenticat|login/i],
  [[2100], 'denied'],
  // An unknown serial number is 4001 since FreeIPA 4.12, and 4301 before; 0 and
  // numbers that are too long are 3008 or 3009.
  [[4001], 'notFound'],
  [[4301], 'notFound', /not found/i],
  [[3008, 3009], 'notFound', /serial/i],
  [[4005, 4034], 'invalid'], // the realm or the type of the principal
  // 4035 since FreeIPA uses Dogtag's REST interface.
  [[4301, 4035], 'alreadyRevoked', /already (?:been )?revoked/i],
  // FreeIPA lost the connection to Dogtag, which may continue. When Dogtag is
  // down, Apache may respond with 503.
  [[907], 'unavailable', undefined, 'pending'],
  [[4301], 'unavailable', /\b503\b/, 'pending'],
  // Dogtag's decisions and failures to connect to it have the same code
  // (`ipaserver/plugins/dogtag.py`).
  [
    [4301],
    'protocol',
    /status 5\d\d|communicate|connection|connect to|timed? ?out|max retries|remote end|server error|unavailable/i,
    'pending',
  ],
  [[4301], 'rejected'],
  [[903, 4016, 4035, 4203], 'protocol', undefined, 'perhaps'],
];

/**
 * Creates the error for an error code of FreeIPA. After a failed `cert_request`,
 * a certificate may exist unless FreeIPA raises the error before it signs:
 * afterwards, it writes the certificate to the user's entry, which can fail, too
 * (`ipaserver/plugins/cert.py`, `cert_request.execute`).
 */
export function createCommandError(options: {
  readonly server: string;
  readonly code: number;
  readonly text: string;
}): FreeIpaError {
  const { code, text } = options;
  const row = MEANINGS.find(
    ([codes, , pattern]) =>
      codes.includes(code) && (pattern?.test(text) ?? true),
  );
  if (!row) {
    // All servers return other errors.
    return code >= 3000 && code < 4000
      ? new FreeIpaError(text, { ...options, fault: 'invalid' })
      : new FreeIpaError(text, {
          ...options,
          fault: 'protocol',
          executed: 'perhaps',
        });
  }
  const [, fault, , executed] = row;
  const isRetryable = fault === 'unavailable' || executed !== undefined;
  return new FreeIpaError(text, { ...options, fault, executed, isRetryable });
}

/** Thrown when an administrator must grant the account a permission. */
export class MissingPermissionError extends AuthorityUnavailableError {
  constructor(permission: string, cause: FreeIpaError) {
    super(
      `The gateway's account needs the FreeIPA permission "${permission}": ${cause.message}`,
    );
  }
}

/**
 * Returns the error of a command other than `cert_request`. Access is denied to
 * the gateway's account, never to the caller.
 *
 * @returns `undefined` when FreeIPA does not have the certificate
 */
export function readFailure(error: unknown): Error | undefined {
  if (!(error instanceof FreeIpaError)) {
    throw error;
  }
  const { fault, message, text } = error;
  switch (fault) {
    case 'notFound':
      return undefined;
    case 'invalid':
      return refusal('invalid', text);
    case 'denied':
    case 'unreachable':
    case 'unavailable':
    case 'credentials':
      return missingPermission(error) ?? new AuthorityUnavailableError(message);
    default:
      return new AuthorityProtocolError(message);
  }
}

/** Returns the error of a `cert_request` that was not executed. */
export function signingFailure(error: FreeIpaError): Error {
  const { fault, message, text } = error;
  switch (fault) {
    case 'denied':
      return missingPermission(error) ?? refusal('forbidden', text);
    case 'notFound':
    case 'rejected':
    case 'alreadyRevoked':
      return refusal('invalid', text);
    case 'protocol':
    case 'session':
      return new AuthorityProtocolError(message, { isUnsigned: true });
    default:
      return readFailure(error)!;
  }
}

/** Permissions by the operation in FreeIPA's message (`VirtualCommand`). */
const PERMISSIONS: Readonly<Record<string, string>> = {
  'request certificate': 'Request Certificate',
  'retrieve certificate': 'Retrieve Certificates from the CA',
  'revoke certificate': 'Revoke Certificate',
  'certificate remove hold': 'Certificate Remove Hold',
};

/** Returns the error if the gateway's account may not perform an operation. */
function missingPermission(error: FreeIpaError): Error | undefined {
  const [, operation] =
    /not allowed to perform operation: ([a-z ]*[a-z])/i.exec(error.text) ?? [];
  return operation === undefined
    ? undefined
    : new MissingPermissionError(PERMISSIONS[operation] ?? operation, error);
}

/** Internal details in FreeIPA's messages. */
const INTERNAL = [
  /\b(?:cn|dc|o|ou|uid|fqdn|krbprincipalname)=/i, // distinguished names
  /\bhttps?:|\bhost=|\bport=|\/ca\//i, // addresses of servers
  /\b(?:java|javax|org|com|netscape)\.[a-z]+\.|\bat [\w.]+\(/, // Java traces
  /[^\P{C}]/u, // control characters, line breaks
];

const MAX_MESSAGE_LENGTH = 500;

/**
 * Creates the error for the caller: with FreeIPA's message, unless it contains
 * internal details.
 */
function refusal(kind: 'invalid' | 'forbidden', text: string): Error {
  const isPublic =
    text !== '' &&
    text.length <= MAX_MESSAGE_LENGTH &&
    !INTERNAL.some(pattern => pattern.test(text));
  const fallback =
    kind === 'forbidden'
      ? 'FreeIPA does not permit this certificate.'
      : 'FreeIPA refuses this certificate request.';
  return new AuthorityRefusalError(isPublic ? text : fallback, { kind });
}
