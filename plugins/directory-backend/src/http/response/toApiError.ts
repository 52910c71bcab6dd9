import { isError } from '@backstage/errors';
import type { AuthorityRefusalError } from '@directory-gateway/backstage-plugin-directory-node';
import type { SigningRefusedError } from '../../certificates/errors';
import {
  ApiError,
  BadGatewayError,
  ContentTooLargeError,
  ForbiddenError,
  InvalidRequestError,
  SlowError,
  UnavailableError,
  UnsupportedEncodingError,
} from './apiErrors';

/** How the errors of the rooms below become answers, by their names. */
const presenters: Readonly<
  Record<string, ((error: Error) => ApiError) | undefined>
> = {
  DirectoryUnavailableError: () =>
    new UnavailableError({
      message: 'The directory is not available. Try again later.',
    }),
  DirectoryTimeoutError: () =>
    new SlowError({ message: 'The directory took too long to answer.' }),
  SigningRefusedError: error => {
    const { rule, message, refusal } = (error as SigningRefusedError).verdict;
    return refusal === 'forbidden'
      ? new ForbiddenError({ message, rule })
      : new InvalidRequestError({ message, rule });
  },
  AuthorityRefusalError: error =>
    (error as AuthorityRefusalError).kind === 'forbidden'
      ? new ForbiddenError({ message: error.message })
      : new InvalidRequestError({ message: error.message }),
  AuthorityUnavailableError: () =>
    new UnavailableError({
      message: 'The certificate authority is not available. Try again later.',
    }),
  OutcomeUnknownError: () =>
    new UnavailableError({
      message:
        'The outcome is unknown: a certificate may have been issued. Look for it before asking again.',
    }),
  AuthorityProtocolError: () =>
    new BadGatewayError({
      message: 'The certificate authority gave no proper answer.',
    }),
  PayloadTooLargeError: () =>
    new ContentTooLargeError({ message: 'The request is larger than 64 KiB.' }),
  UnsupportedMediaTypeError: () =>
    new UnsupportedEncodingError({
      message: 'The content encoding is not supported. Use gzip or deflate.',
    }),
};

/** What a caller is told of an error; `undefined` is nothing. */
export function toApiError(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) {
    return error;
  }
  if (!isError(error)) {
    return undefined;
  }
  const present = presenters[error.name];
  if (!present && isUnreadableBody(error)) {
    return new InvalidRequestError({ message: 'The body cannot be read.' });
  }
  return present?.(error);
}

/** How Express's body parser reports a truncated or corrupt body. */
function isUnreadableBody(error: Error): boolean {
  const { status, expose } = error as { status?: unknown; expose?: unknown };
  return status === 400 && expose === true;
}
