import type { components } from './generated/openapi';

/**
 * Body of an API error: always `message` (for display) and `request_id`
 * (identifies the request in the portal's logs), plus the keys of specific
 * errors where they apply.
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
      keyof components['schemas']['Error'] | 'reason'
    >
  > & {
    /** Why the caller was not authenticated (401), or may not do this (403). */
    reason?:
      | components['schemas']['UnauthorizedReason']
      | components['schemas']['ForbiddenReason'];
  } & Partial<
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
