import type { DiscoveryApi } from '@backstage/frontend-plugin-api';
import { z } from 'zod';

/** `refresh` response of a Backstage auth provider. */
const portalSessionSchema = z.object({
  profile: z.object({
    email: z.string().optional(),
    displayName: z.string().optional(),
    picture: z.string().optional(),
  }),
  backstageIdentity: z.object({
    token: z.string(),
    expiresInSeconds: z.number().positive().optional(),
    identity: z.object({
      type: z.literal('user'),
      userEntityRef: z.string(),
      ownershipEntityRefs: z.array(z.string()),
    }),
  }),
});

/** Identity and token of a signed-in user. */
export type PortalSession = z.infer<typeof portalSessionSchema>;

/** Why a sign-in failed. */
export type SignInFailure =
  | {
      /** The server refused the credentials (401). */
      readonly kind: 'refused';
      /** `reason` of the response. New values may be added. */
      readonly reason: string;
      /** Message from the server. */
      readonly message: string;
      /**
       * Minutes by which the local clock is ahead of the server's; negative if
       * behind.
       */
      readonly minutesAhead?: number;
    }
  | {
      /** The server cannot currently check credentials. */
      readonly kind: 'unavailable';
      /** Message from the server. */
      readonly message?: string;
      /** HTTP status, if the response is an error. */
      readonly status?: number;
      /** Delay before a retry in seconds, if the server sent one. */
      readonly retryAfter?: number;
    }
  /** There was no response. */
  | { readonly kind: 'unreachable' };

/**
 * A failed sign-in. After a refusal, its name is `AuthenticationError`, which
 * Backstage uses for a missing session: the pages then offer to sign in again.
 */
export class SignInError extends Error {
  readonly failure: SignInFailure;

  constructor(failure: SignInFailure) {
    super('message' in failure ? failure.message : failure.kind);
    this.name =
      failure.kind === 'refused' ? 'AuthenticationError' : 'SignInError';
    this.failure = failure;
  }
}

/** Returns the failure that caused an error. */
export function toFailure(error: unknown): SignInFailure {
  return error instanceof SignInError
    ? error.failure
    : { kind: 'unavailable', message: undefined };
}

/** Delay before a retry when the server sends no `Retry-After`, in seconds. */
const DEFAULT_RETRY_AFTER = 15;

/**
 * Returns the delay before an automatic retry, in seconds; `undefined` after a
 * refusal or another client error, which would only be repeated.
 */
export function retryDelay(failure: SignInFailure): number | undefined {
  switch (failure.kind) {
    case 'refused':
      return undefined;
    case 'unavailable': {
      const { status = 500, retryAfter } = failure;
      return status >= 500 || status === 429
        ? retryAfter || DEFAULT_RETRY_AFTER
        : undefined;
    }
    default:
      return DEFAULT_RETRY_AFTER;
  }
}

/** IDs of the auth providers that the sign-in page uses. */
export type ProviderId = 'kerberos' | 'guest';

/** Options of {@link fetchSession}. */
interface FetchSessionOptions {
  readonly provider: ProviderId;
  readonly discoveryApi: DiscoveryApi;
  readonly signal?: AbortSignal;
}

const errorBodySchema = z.object({
  message: z.string().optional(),
  reason: z.string().optional(),
  // Backstage's format
  error: z.object({ message: z.string() }).optional(),
});

/**
 * Reasons that are retried. Chromium with a fresh profile ignores the first
 * challenge, and a token that is sent twice is refused the second time.
 */
const RETRIED_REASONS = new Set(['no_credentials', 'replayed']);

/**
 * Pause before each retry, in milliseconds. On a busy machine, a fresh profile
 * may not have a ticket at the first retry.
 */
const PAUSES_MS = [0, 300];

/**
 * Requests a session from a provider. Retries twice if the ticket is missing or
 * the token was replayed.
 *
 * @throws SignInError with the failure to show
 */
export async function fetchSession(
  options: FetchSessionOptions,
): Promise<PortalSession> {
  for (const pause of PAUSES_MS) {
    try {
      return await requestSession(options);
    } catch (error) {
      if (!isRetried(error)) {
        throw error;
      }
      await new Promise(resolve => setTimeout(resolve, pause));
    }
  }
  return requestSession(options);
}

function isRetried(error: unknown): boolean {
  return (
    error instanceof SignInError &&
    error.failure.kind === 'refused' &&
    RETRIED_REASONS.has(error.failure.reason)
  );
}

async function requestSession(
  options: FetchSessionOptions,
): Promise<PortalSession> {
  const { provider, discoveryApi, signal } = options;
  const baseUrl = await discoveryApi.getBaseUrl('auth');
  const response = await fetch(`${baseUrl}/${provider}/refresh`, {
    headers: { 'X-Requested-With': 'XMLHttpRequest' },
    credentials: 'include',
    cache: 'no-store',
    signal,
  }).catch(() => {
    throw new SignInError({ kind: 'unreachable' });
  });
  const body: unknown = await response.json().catch(() => undefined);
  if (!response.ok) {
    throw refusal(response, body);
  }
  const session = portalSessionSchema.safeParse(body);
  if (!session.success) {
    throw new SignInError({ kind: 'unavailable' });
  }
  return session.data;
}

/** Statuses with which proxies and Node.js refuse large request headers. */
const TOO_LARGE: readonly number[] = [400, 413, 431];

function refusal(response: Response, body: unknown): SignInError {
  // Only the portal responds with JSON.
  if (TOO_LARGE.includes(response.status) && body === undefined) {
    const reason = 'token_too_large';
    return new SignInError({ kind: 'refused', reason, message: '' });
  }
  const { data } = errorBodySchema.safeParse(body);
  const message = data?.message ?? data?.error?.message;
  if (response.status !== 401) {
    const retryAfter = response.headers.get('Retry-After') ?? '';
    return new SignInError({
      kind: 'unavailable',
      message,
      status: response.status,
      retryAfter: /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined,
    });
  }
  return new SignInError({
    kind: 'refused',
    reason: data?.reason ?? 'no_credentials',
    message: message ?? '',
    minutesAhead: minutesAheadOf(response.headers.get('Date')),
  });
}

/**
 * Returns how far the local clock is ahead of the server's, in whole minutes.
 */
function minutesAheadOf(date: string | null): number | undefined {
  const serverTime = Date.parse(date ?? '');
  return Number.isNaN(serverTime)
    ? undefined
    : Math.round((Date.now() - serverTime) / 60_000);
}
