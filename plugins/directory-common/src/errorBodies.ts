import type { components } from './generated/openapi';

type Schemas = components['schemas'];

/**
 * Why a caller is not logged in; each reason is described in the OpenAPI
 * document.
 *
 * @public
 */
export type UnauthorizedReason = Schemas['UnauthorizedReason'];

/**
 * The body of a 401.
 *
 * @public
 */
export type UnauthorizedBody = Schemas['UnauthorizedError'];

/**
 * The body of a 400: a refused parameter, mask, search term or certificate
 * request.
 *
 * @public
 */
export type BadRequestBody = Schemas['BadRequestError'];

/**
 * The body of a 404 for a user.
 *
 * @public
 */
export type UserNotFoundBody = Schemas['UserNotFoundError'];

/**
 * The body of a 404 for a group.
 *
 * @public
 */
export type GroupNotFoundBody = Schemas['GroupNotFoundError'];

/**
 * The body of a 404 for a certificate.
 *
 * @public
 */
export type CertificateNotFoundBody = Schemas['CertificateNotFoundError'];

/**
 * The body of any error of the API: always `message` (for people) and
 * `request_id` (names the request in the portal's logs), with the keys of the
 * narrower bodies where they apply.
 *
 * @public
 */
export type ErrorBody = Schemas['Error'] &
  Partial<Omit<BadRequestBody, keyof Schemas['Error']>> &
  Partial<Omit<UnauthorizedBody, keyof Schemas['Error']>> &
  Partial<Omit<UserNotFoundBody, keyof Schemas['Error']>> &
  Partial<Omit<GroupNotFoundBody, keyof Schemas['Error']>> &
  Partial<Omit<CertificateNotFoundBody, keyof Schemas['Error']>>;
