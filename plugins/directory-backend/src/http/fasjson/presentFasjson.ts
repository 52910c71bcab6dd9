import { isError } from '@backstage/errors';
import type { AuthorityRefusalError } from '@directory-gateway/backstage-plugin-directory-node';
import type { SigningRefusedError } from '../../certificates/errors';
import { InvalidRequestError, type ErrorAnswer } from '../response/apiErrors';
import { toApiError } from '../response/toApiError';

/** FreeIPA's codes of errors (`ipalib/errors.py`), which the reference passes on. */
const NOT_FOUND = 4001;
const VALIDATION = 3009;
const ACI = 2100;

/** Refusals to sign, which the reference has from FreeIPA's RPC. */
const presenters: Readonly<
  Record<string, ((error: Error) => ErrorAnswer) | undefined>
> = {
  SigningRefusedError: error => {
    const { rule, refusal, message } = (error as SigningRefusedError).verdict;
    const invalid = rule === 'principal' ? NOT_FOUND : VALIDATION;
    return fromFreeIpa(message, refusal === 'forbidden' ? ACI : invalid);
  },
  AuthorityRefusalError: error => {
    const { kind, message } = error as AuthorityRefusalError;
    return fromFreeIpa(message, kind === 'forbidden' ? ACI : VALIDATION);
  },
};

/** How the reference says what the contract says in other words. */
const SENTENCES: Readonly<Record<string, string | undefined>> = {
  UnauthorizedError:
    "The server could not verify that you are authorized to access the URL requested. You either supplied the wrong credentials (e.g. a bad password), or your browser doesn't understand how to supply the credentials required.",
  UnknownPathError:
    'The requested URL was not found on the server. If you entered the URL manually please check your spelling and try again.',
};

/** What a caller is told of an error, as the reference tells it. */
export function presentFasjsonError(error: unknown): ErrorAnswer | undefined {
  const present = isError(error) ? presenters[error.name] : undefined;
  if (present) {
    return present(error as Error);
  }
  const refusal = toApiError(error);
  if (!refusal) {
    return undefined;
  }
  const { status, headers, body } = refusal;
  return {
    status,
    headers,
    body: {
      ...body,
      message: SENTENCES[refusal.name] ?? body.message,
    },
  };
}

function fromFreeIpa(message: string, code: number): ErrorAnswer {
  return new InvalidRequestError({ message, code, source: 'RPC' });
}
