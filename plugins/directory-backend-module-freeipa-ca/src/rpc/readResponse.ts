import type { HttpsResponse } from './HttpsClient';
import { NoResultError, RpcError, SessionExpiredError } from './errors';
import { type RpcRecord, type RpcValue, isRpcRecord } from './RpcCommand';

/** Authentication and session errors: raised before a command is run. */
const isSessionCode = (code: number) => code >= 1000 && code < 2000;

/**
 * What a server's answer to a call says (`ipaserver/rpcserver.py`,
 * `jsonserver_session`): command errors come with status 200, an expired
 * session as an empty 401, a wrong `Referer` as an HTML 400, and a directory
 * that is down as a 503, both before the command is run.
 *
 * @param options - `server` is its origin.
 * @returns the command's result.
 * @throws RpcError, SessionExpiredError, NoResultError
 */
export function readResult(options: {
  readonly server: string;
  readonly answer: HttpsResponse;
}): RpcRecord {
  const { server, answer } = options;
  const refusal = answer.headers.get('x-ipa-rejection-reason');
  if (answer.status === 401 && refusal === null) {
    throw new SessionExpiredError(`${server}: the session has expired`);
  }
  if (answer.status === 401) {
    throw new NoResultError(
      `FreeIPA refuses the gateway's account: ${refusal}`,
      { server, executed: 'no', fault: 'credentials' },
    );
  }
  if (answer.status !== 200) {
    throw noVerdict({ server, status: answer.status });
  }
  return readEnvelope({ server, envelope: parseBody(server, answer.body) });
}

/**
 * A status with no JSON to it. 503 and everything below 500 comes from before
 * the command; a 500, 502 or 504 may come from a proxy that lost its patience
 * while the command was run.
 */
function noVerdict(options: {
  readonly server: string;
  readonly status: number;
}): NoResultError {
  const { server, status } = options;
  const hint =
    status === 400
      ? ' (is it called by its own name, and not by an alias?)'
      : '';
  return new NoResultError(`status ${status} in place of an answer${hint}`, {
    server,
    executed: status < 500 || status === 503 ? 'no' : 'perhaps',
    fault: status < 500 ? 'protocol' : 'unavailable',
  });
}

function parseBody(server: string, body: string): RpcValue {
  try {
    return parseExactJson(body);
  } catch (error) {
    throw new NoResultError('the answer is no JSON', {
      server,
      executed: 'perhaps',
      fault: 'protocol',
      cause: error,
    });
  }
}

function readEnvelope(options: {
  readonly server: string;
  readonly envelope: RpcValue;
}): RpcRecord {
  const { server, envelope } = options;
  const { error, result } = isRpcRecord(envelope)
    ? envelope
    : { error: undefined, result: undefined };
  if (isRpcRecord(error) && typeof error.code === 'number') {
    const text = typeof error.message === 'string' ? error.message : '';
    const verdict = new RpcError({ code: error.code, text, server });
    throw isSessionCode(error.code)
      ? new SessionExpiredError(verdict.message, verdict)
      : verdict;
  }
  if (error !== null || !isRpcRecord(result)) {
    throw new NoResultError('the answer has neither a result nor an error', {
      server,
      executed: 'perhaps',
      fault: 'protocol',
    });
  }
  return result;
}

/** TypeScript does not know yet that a reviver gets to see the source text. */
const parse = JSON.parse as (
  text: string,
  reviver: (
    key: string,
    value: unknown,
    context: { readonly source?: string },
  ) => unknown,
) => unknown;

/**
 * Parses JSON without rounding: whole numbers that a double cannot hold become
 * bigint. Before 4.10 FreeIPA wrote serial numbers as JSON numbers, and some of
 * its commands still do.
 *
 * @throws SyntaxError when it is no JSON.
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
