import {
  type Caller,
  hiddenFieldNames,
  PrincipalSet,
  PrivateDirectory,
} from '@directory-gateway/directory-core';
import type { NaiveDirectory } from '@directory-gateway/directory-core/testUtils';
import { CertificateAuthorities } from '../../certificates/CertificateAuthorities';
import type { Operation } from '../../http/api/Operation';
import { createOperations } from '../../http/resources/createOperations';
import { contractDialect } from '../../http/contractDialect';
import { FileStream } from '../../http/response/FileStream';
import { writeJson } from '../../http/response/json';
import { toApiError } from '../../apiErrors';

/** A request that reads the directory. */
export interface ReadRequest {
  /** Path below `/v1`, with its query. */
  readonly path: string;
  /** Value of `X-Fields`. Default: not sent. */
  readonly mask?: string;
}

/** Status and body of a response, without the origin and `request_id`. */
export interface ComparableResponse {
  readonly status: number;
  readonly text: string;
}

/** Base of `uri` fields, without the origin of a server. */
const BASE = '/api/directory';

const SILENT_AUDITOR = {
  createEvent: async () => ({ success: async () => {}, fail: async () => {} }),
};

/**
 * Responses of the API, computed from a dump of the directory.
 *
 * The naive model determines which entries are found, counted and returned.
 * Privacy, masks and JSON use the gateway's own code, so that whole responses
 * can be compared exactly; other tests cover this code.
 */
export class ExpectedResponses {
  readonly #directory: NaiveDirectory;
  readonly #realm: string;
  readonly #operations: readonly Operation[];

  constructor(directory: NaiveDirectory, realm: string) {
    this.#directory = directory;
    this.#realm = realm;
    this.#operations = operationsOf(directory);
  }

  /**
   * Returns the response to a caller with a ticket, cookie or portal token.
   *
   * @param name - principal without the realm
   * @throws Error when the path has no operation or the principal has no entry.
   */
  async get(
    { path, mask }: ReadRequest,
    name: string,
  ): Promise<ComparableResponse> {
    const caller = await this.#callerOf(name);
    const { pathname, searchParams } = new URL(path, 'http://localhost');
    for (const operation of this.#operations) {
      const params = paramsOf(pathname, operation);
      if (params) {
        return responseOf(operation, {
          params,
          query: searchParams,
          fieldMask: mask,
          caller,
        });
      }
    }
    throw new Error(`No operation has the path ${pathname}`);
  }

  async #callerOf(name: string): Promise<Caller> {
    const principal = `${name}@${this.#realm}`;
    const account = await this.#directory.principals.find({ principal });
    if (!account) {
      throw new Error(`No entry has the principal ${principal}`);
    }
    return {
      kind: 'kerberos',
      principal,
      credential: 'ticket',
      account: { ...account, source: 'live' },
    };
  }
}

/**
 * Removes the values that differ between two correct responses.
 *
 * @param origin - origin of the server, for example `http://localhost:40123`
 */
export function comparable(
  { status, text }: ComparableResponse,
  origin: string,
): ComparableResponse {
  return {
    status,
    text: text
      .replaceAll(origin, '')
      .replace(/"request_id":\s*"[^"]*"/, '"request_id":""'),
  };
}

function operationsOf(naive: NaiveDirectory): readonly Operation[] {
  const directory = new PrivateDirectory(naive, {
    hidden: new Set(hiddenFieldNames),
    trustedReaders: new PrincipalSet({}),
  });
  return createOperations({
    access: { operationsOf: async () => new Set(), require: async () => {} },
    accounts: { findForSignIn: async () => undefined },
    auditor: SILENT_AUDITOR,
    authorities: new CertificateAuthorities(),
    certificates: undefined,
    changes: { feed: { read: async () => undefined }, history: undefined },
    dialect: contractDialect(BASE),
    directory,
  });
}

/**
 * Returns the parameters in a path; `undefined` for another operation's path.
 */
function paramsOf(
  pathname: string,
  { path }: Operation,
): Readonly<Record<string, string>> | undefined {
  const names: string[] = [];
  const pattern = path.replace(/\./g, '\\.').replace(/:(\w+)/g, (_, name) => {
    names.push(name);
    return '([^/]+)';
  });
  const found = new RegExp(`^${pattern.replace(/\/$/, '/?')}$`).exec(pathname);
  return (
    (found &&
      Object.fromEntries(
        names.map((name, at) => [name, decodeURIComponent(found[at + 1])]),
      )) ??
    undefined
  );
}

async function responseOf(
  operation: Operation,
  call: {
    readonly params: Readonly<Record<string, string>>;
    readonly query: URLSearchParams;
    readonly fieldMask: string | undefined;
    readonly caller: Caller;
  },
): Promise<ComparableResponse> {
  const { caller } = call;
  const { signal } = new AbortController();
  try {
    const body = await operation.handle({
      ...call,
      uri: `${BASE}/v1${operation.path}`,
      parameters: new Map(),
      context: { caller, signal },
    });
    return { status: 200, text: await textOf(body) };
  } catch (error) {
    const refusal = toApiError(error);
    if (!refusal) {
      throw error;
    }
    const { status, body } = refusal;
    return { status, text: JSON.stringify({ ...body, request_id: '' }) };
  }
}

async function textOf(body: unknown): Promise<string> {
  if (!(body instanceof FileStream)) {
    return writeJson(body).toString();
  }
  let text = '';
  for await (const chunk of body.chunks) {
    text += chunk;
  }
  return text;
}
