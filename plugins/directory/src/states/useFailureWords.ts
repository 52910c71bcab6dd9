import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { isDirectoryResponseError } from '@directory-gateway/backstage-plugin-directory-common';
import { retryDelay } from '../api/useDirectoryQuery';
import { directoryTranslationRef } from '../translation';

/** A failure in words. */
export interface FailureWords {
  /** What failed. */
  title: string;

  /** The server's own message, when it has one to show. */
  message: string | undefined;

  /** When it is tried again; nothing when that would change nothing. */
  next: string | undefined;

  /** Names the request in the portal's logs. */
  reference: string | undefined;
}

/** Puts a failed question to the directory into words. */
export function useFailureWords(error: unknown): FailureWords {
  const { t } = useTranslationRef(directoryTranslationRef);

  const delay = retryDelay(error);
  const next =
    delay === undefined
      ? undefined
      : t('states.triesAgain', {
          delay: Math.round(delay / 1000).toLocaleString(undefined, {
            style: 'unit',
            unit: 'second',
            unitDisplay: 'long',
          }),
        });

  if (!isDirectoryResponseError(error)) {
    return {
      title: t('states.portalAway'),
      message: undefined,
      next,
      reference: undefined,
    };
  }
  const title = () => {
    if (error.status === 503 || error.status === 504) {
      return t('states.directoryAway');
    }
    switch (error.body?.reason) {
      case 'unknown_principal':
        return t('states.unknownPrincipal');
      case 'account_locked':
        return t('states.accountLocked');
      case 'account_expired':
        return t('states.accountExpired');
      default:
        return error.status === 401 || error.status === 403
          ? t('states.refused')
          : t('states.failed');
    }
  };
  const id = error.body?.request_id;
  return {
    title: title(),
    message: error.message,
    next,
    reference: id && t('states.reference', { id }),
  };
}
