import type { components } from './generated/openapi';

/**
 * The body of any error of the API: always `message` (for display) and
 * `request_id` (identifies the request in the portal's logs), with the keys of
 * the specific errors where they apply.
 *
 * @public
 */
export type ErrorBody = components['schemas']['Error'] &
  Partial<
    Omit<
      components['schemas']['BadRequestError'],
      keyof components['schemas']['Error']
    >
  > &
  Partial<
    Omit<
      components['schemas']['UnauthorizedError'],
      keyof components['schemas']['Error']
    >
  > &
  Partial<
    Omit<
      components['schemas']['UserNotFoundError'],
      keyof components['schemas']['Error']
    >
  > &
  Partial<
    Omit<
      components['schemas']['GroupNotFoundError'],
      keyof components['schemas']['Error']
    >
  > &
  Partial<
    Omit<
      components['schemas']['CertificateNotFoundError'],
      keyof components['schemas']['Error']
    >
  >;
