import { CustomErrorBase } from '@backstage/errors';

/** A FreeIPA server does not know the session, and did nothing. */
export class SessionExpiredError extends CustomErrorBase {
  name = 'SessionExpiredError' as const;
}
