import type { DiscoveryApi } from '@backstage/frontend-plugin-api';
import { z } from 'zod';
import { portalSessionSchema, type PortalSession } from './PortalSession';
import { SignInError } from './SignInError';

/** The providers that sign-in asks. */
export type ProviderId = 'kerberos' | 'guest';

/** What to ask, and whom. */
export interface FetchSessionOptions {
  readonly provider: ProviderId;
  readonly discoveryApi: DiscoveryApi;
  readonly signal?: AbortSignal;
}

const errorBodySchema = z.object({
  message: z.string().optional(),
  reason: z.string().optional(),
  // Backstage's own shape.
  error: z.object({ message: z.string() }).optional(),
});

/**
 * The first challenge to a fresh Chromium profile goes unanswered, and a ticket
 * sent twice is refused the second time: these are worth asking again.
 */
const WORTH_ANOTHER = new Set(['no_credentials', 'replayed']);

/**
 * Milliseconds until it is asked again. On a busy machine a fresh profile has
 * not found its tickets yet when it is asked at once.
 */
const PAUSES_MS = [0, 300];

/**
 * Asks a provider for a session; where it refuses for want of a ticket, twice
 * more at most.
 *
 * @throws SignInError with what to tell the person
 */
export async function fetchSession(
  options: FetchSessionOptions,
): Promise<PortalSession> {
  for (const pause of PAUSES_MS) {
    try {
      return await ask(options);
    } catch (error) {
      if (!isWorthAnother(error)) {
        throw error;
      }
      await new Promise(resolve => setTimeout(resolve, pause));
    }
  }
  return ask(options);
}

function isWorthAnother(error: unknown): boolean {
  return (
    error instanceof SignInError &&
    error.problem.kind === 'refused' &&
    WORTH_ANOTHER.has(error.problem.reason)
  );
}

async function ask(options: FetchSessionOptions): Promise<PortalSession> {
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

function refusal(response: Response, body: unknown): SignInError {
  const { data } = errorBodySchema.safeParse(body);
  const message = data?.message ?? data?.error?.message;
  if (response.status !== 401) {
    return new SignInError({ kind: 'unavailable', message });
  }
  return new SignInError({
    kind: 'refused',
    reason: data?.reason ?? 'no_credentials',
    message: message ?? '',
    minutesAhead: minutesAheadOf(response.headers.get('Date')),
  });
}

/** Full minutes that this clock is ahead of the server's. */
function minutesAheadOf(date: string | null): number | undefined {
  const serverTime = Date.parse(date ?? '');
  return Number.isNaN(serverTime)
    ? undefined
    : Math.round((Date.now() - serverTime) / 60_000);
}
