import { NoResultError, RpcError, SessionExpiredError } from './errors';
import type { HttpsResponse } from './HttpsClient';
import { type RpcRecord, type RpcValue, isRpcRecord } from './RpcCommand';

/** Authentication and session errors, which occur before the command runs. */
const isSessionCode = (code: number) => code >= 1000 && code < 2000;

/**
 * Reads the response to a call (`ipaserver/rpcserver.py`,
 * `jsonserver_session`). Command errors have status 200, an expired session is
 * an empty 401, a wrong `Referer` an HTML 400, and an unavailable directory a
 * 503; except in the first case, the command did not run.
 *
 * @param options - `server`: origin of the server
 * @returns the result of the command
 * @throws RpcError, SessionExpiredError, NoResultError
 */
export function readResult(options: {
  readonly server: string;
  readonly response: HttpsResponse;
}): RpcRecord {
  const { server, response } = options;
  const { status } = response;
  const rejection = response.headers.get('x-ipa-rejection-reason');
  if (status === 401 && rejection === null) {
    throw new SessionExpiredError(`${server}: the session has expired`);
  }
  if (status === 401) {
    throw new NoResultError(
      `FreeIPA rejects the gateway's account: ${rejection}`,
      { server, executed: 'no', fault: 'credentials' },
    );
  }
  if (status !== 200) {
    // 503 and any status below 500 occur before the command runs; a 500, 502 or
    // 504 may come from a proxy that timed out while the command was running.
    const hint =
      status === 400 ? ' (the configured host name may be an alias)' : '';
    throw new NoResultError(`unexpected status ${status}${hint}`, {
      server,
      executed: status < 500 || status === 503 ? 'no' : 'perhaps',
      fault: status < 500 ? 'protocol' : 'unavailable',
    });
  }
  return readEnvelope(server, parseBody(server, response.body));
}

function parseBody(server: string, body: string): RpcValue {
  try {
    return parseExactJson(body);
  } catch (error) {
    throw new NoResultError('the response is not JSON', {
      server,
      executed: 'perhaps',
      fault: 'protocol',
      cause: error,
    });
  }
}

function readEnvelope(server: string, envelope: RpcValue): RpcRecord {
  const { error, result } = isRpcRecord(envelope)
    ? envelope
    : { error: undefined, result: undefined };
  if (isRpcRecord(error) && typeof error.code === 'number') {
    const text = typeof error.message === 'string' ? error.message : '';
    const rpcError = new RpcError({ code: error.code, text, server });
    throw isSessionCode(error.code)
      ? new SessionExpiredError(rpcError.message, rpcError)
      : rpcError;
  }
  if (error !== null || !isRpcRecord(result)) {
    throw new NoResultError('the response has neither a result nor an error', {
      server,
      executed: 'perhaps',
      fault: 'protocol',
    });
  }
  return result;
}

/** Declares the source text of values, which TypeScript's library lacks. */
const parse = JSON.parse as (
  text: string,
  reviver: (
    key: string,
    value: unknown,
    context: { readonly source?: string },
  ) => unknown,
) => unknown;

/**
 * Parses JSON without rounding: integers that a double cannot represent become
 * bigint. Before 4.10 FreeIPA wrote serial numbers as JSON numbers, and some
 * commands still do.
 *
 * @throws SyntaxError when it is not JSON.
 */
export function parseExactJson(text: string): RpcValue {
  return parse(text, (_key, value, { source }) =>
    typeof value === 'number' &&
    !Number.isSafeInteger(value) &&
    /^-?\d+$/.test(source ?? '')
      ? BigInt(source!)
      : value,
  ) as RpcValue;
}
