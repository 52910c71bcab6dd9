import type { Realm } from '@directory-gateway/realm';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { validateResponse } from '../openapi/validateResponse';
import type { Gateway } from './startGateway';

/** A response in a form for tests. */
export interface ClientResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; `undefined` when it is empty or not JSON. */
  readonly json: unknown;
}

/** Differences from a `GET` request without credentials. */
export interface RequestOptions {
  /** Principal whose ticket authenticates the request, for example `alice`. */
  readonly as?: string;
  /** Path of a cookie jar in curl's format. */
  readonly jar?: string;
  readonly method?: string;
  readonly body?: string;
  /** Request headers; a list is sent as several lines. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

/** Matches paths of the contract's own dialect. */
const CONTRACT_PATH = /^\/(?:\/|v1\b|docs\/v1\b|specs\/v1\.json|ca\/crl|\?|$)/;

const run = promisify(execFile);

/**
 * Sends requests with curl, like API clients with a ticket, and validates
 * responses of the contract's own dialect against the OpenAPI document.
 */
export class GatewayClient {
  readonly #baseUrl: string;
  readonly #realm: Realm;

  constructor(options: {
    readonly gateway: Pick<Gateway, 'baseUrl'>;
    readonly realm: Realm;
  }) {
    this.#baseUrl = options.gateway.baseUrl;
    this.#realm = options.realm;
  }

  /**
   * Returns a client that authenticates each request with a principal's ticket.
   */
  as(principal: string): { request(path: string): Promise<ClientResponse> } {
    return { request: path => this.request(path, { as: principal }) };
  }

  /**
   * Sends a request.
   *
   * @param path - path below `/api/directory`, sent unchanged
   */
  async request(
    path: string,
    options: RequestOptions = {},
  ): Promise<ClientResponse> {
    const { as, jar, method = 'GET', body } = options;
    const headers = headerLines(options.headers ?? {});
    const { stdout } = await run(
      'curl',
      [
        ...['--silent', '--show-error', '--include', '--path-as-is'],
        ...['--globoff', '--max-time', '300'],
        ...(method === 'HEAD' ? ['--head'] : ['--request', method]),
        ...(as ? ['--negotiate', '--user', ':'] : []),
        ...(jar ? ['--cookie', jar, '--cookie-jar', jar] : []),
        ...headers.flatMap(line => ['--header', line]),
        ...(body === undefined ? [] : ['--data-binary', body]),
        `${this.#baseUrl}/api/directory${path}`,
      ],
      {
        env: {
          ...process.env,
          KRB5_CONFIG: this.#realm.krb5Config,
          KRB5CCNAME: as ? await this.#realm.ticket(as) : 'MEMORY:none',
        },
        maxBuffer: 64 * 1024 * 1024,
      },
    );
    const response = parse(stdout);
    if (CONTRACT_PATH.test(path)) {
      validateResponse({
        method,
        path,
        masked: headers.some(line => /^x-fields:\s*\S/i.test(line)),
        status: response.status,
        headers: response.headers,
        body: response.text,
      });
    }
    return response;
  }
}

/**
 * Returns header lines in curl's syntax: an empty header ends in a semicolon.
 */
function headerLines(
  headers: NonNullable<RequestOptions['headers']>,
): string[] {
  return Object.entries(headers).flatMap(([name, values]) =>
    [values]
      .flat()
      .map(value => (value === '' ? `${name};` : `${name}: ${value}`)),
  );
}

/** Parses curl's output, which contains all responses of an exchange. */
function parse(output: string): ClientResponse {
  let text = output;
  let head = '';
  do {
    const end = text.indexOf('\r\n\r\n');
    head = text.slice(0, end);
    text = text.slice(end + 4);
  } while (text.startsWith('HTTP/'));
  const [statusLine, ...lines] = head.split('\r\n');
  const headers = new Headers(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
  const isJson =
    text !== '' && headers.get('content-type')?.startsWith('application/json');
  return {
    status: Number(statusLine.split(' ')[1]),
    headers,
    text,
    json: isJson ? JSON.parse(text) : undefined,
  };
}

/** Returns the options of a POST with a form, like `curl -d`. */
export function form(parameters: Record<string, string>) {
  return {
    method: 'POST',
    body: String(new URLSearchParams(parameters)),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  } satisfies RequestOptions;
}

/** Returns the options of a POST with a multipart form, like `curl -F`. */
export function multipart(parameters: Record<string, string>) {
  const parts = Object.entries(parameters).map(
    ([name, value]) =>
      `--frame\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  return {
    method: 'POST',
    body: `${parts.join('')}--frame--\r\n`,
    headers: { 'Content-Type': 'multipart/form-data; boundary=frame' },
  } satisfies RequestOptions;
}

/** Returns the record in a response. */
export function resultOf({
  json,
}: Pick<ClientResponse, 'json'>): Record<string, unknown> {
  return (json as { result: Record<string, unknown> }).result;
}

/**
 * Returns the serial number in a response; a JavaScript number would lose
 * digits.
 */
export function serialOf({ text }: Pick<ClientResponse, 'text'>): string {
  return /"serial_number": ?(\d+)/.exec(text)?.[1] ?? `none: ${text}`;
}
