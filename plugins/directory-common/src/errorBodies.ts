import type { components } from './generated/openapi';

type Schemas = components['schemas'];

/**
 * The body of any error of the API: always `message` (for display) and
 * `request_id` (identifies the request in the portal's logs), with the keys of
 * the specific errors where they apply.
 *
 * @public
 */
export type ErrorBody = Schemas['Error'] &
  Additional<'BadRequestError'> &
  Additional<'UnauthorizedError'> &
  Additional<'UserNotFoundError'> &
  Additional<'GroupNotFoundError'> &
  Additional<'CertificateNotFoundError'>;

type Additional<Name extends keyof Schemas> = Partial<
  Omit<Schemas[Name], keyof Schemas['Error']>
>;
