import type { Realm } from '@directory-gateway/realm';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Gateway } from './startGateway';
import { validateResponse } from '../openapi/validateResponse';

/** What a test looks at. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body, `undefined` when it is empty or no JSON. */
  readonly json: unknown;
}

/** How a request differs from `GET` without credentials. */
export interface AskOptions {
  /** The principal whose ticket is presented, for example `alice`. */
  readonly as?: string;
  /** A file of curl's, whose cookies are sent, and in which they are kept. */
  readonly jar?: string;
  readonly method?: string;
  readonly body?: string;
  /** Request headers; a list is sent as several lines. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

/** The framework answers below the plugin's other paths. */
const OF_CONTRACT = /^\/(?:\/|v1\b|docs\/v1\b|specs\/v1\.json|ca\/crl|\?|$)/;

const run = promisify(execFile);

/**
 * Asks a gateway with curl, as its users do, and holds every answer of the
 * contract's own dialect against the OpenAPI document.
 */
export class GatewayClient {
  readonly #gateway: Pick<Gateway, 'baseUrl'>;
  readonly #realm: Realm;

  constructor(options: {
    readonly gateway: Pick<Gateway, 'baseUrl'>;
    readonly realm: Realm;
  }) {
    this.#gateway = options.gateway;
    this.#realm = options.realm;
  }

  /** `path` is below `/api/directory`, as it is sent: nothing is encoded. */
  async ask(path: string, options: AskOptions = {}): Promise<Answer> {
    const { method = 'GET', headers = {} } = options;
    const url = `${this.#gateway.baseUrl}/api/directory${path}`;
    const { stdout } = await run(
      'curl',
      [
        ...['--silent', '--show-error', '--include', '--path-as-is'],
        ...['--globoff', '--max-time', '30'],
        ...(method === 'HEAD' ? ['--head'] : ['--request', method]),
        ...(options.as ? ['--negotiate', '--user', ':'] : []),
        ...(options.jar
          ? ['--cookie', options.jar, '--cookie-jar', options.jar]
          : []),
        ...headerLines(headers).flatMap(line => ['--header', line]),
        ...(options.body === undefined ? [] : ['--data-binary', options.body]),
        url,
      ],
      {
        env: {
          ...process.env,
          KRB5_CONFIG: this.#realm.krb5Config,
          KRB5CCNAME: options.as
            ? await this.#realm.ticket(options.as)
            : 'MEMORY:none',
        },
        maxBuffer: 64 * 1024 * 1024,
      },
    );
    const answer = parse(stdout);
    if (OF_CONTRACT.test(path)) {
      this.#validate(path, options, answer);
    }
    return answer;
  }

  #validate(path: string, options: AskOptions, answer: Answer): void {
    const mask = headerLines(options.headers ?? {}).find(line =>
      /^x-fields:\s*\S/i.test(line),
    );
    validateResponse({
      method: options.method ?? 'GET',
      path,
      masked: mask !== undefined,
      status: answer.status,
      headers: answer.headers,
      body: answer.text,
    });
  }
}

/** curl's syntax: a header without a value ends in a semicolon. */
function headerLines(headers: NonNullable<AskOptions['headers']>): string[] {
  return Object.entries(headers).flatMap(([name, values]) =>
    [values]
      .flat()
      .map(value => (value === '' ? `${name};` : `${name}: ${value}`)),
  );
}

/** curl prints every response of an exchange; the last one is the answer. */
function parse(output: string): Answer {
  let rest = output;
  let head = '';
  do {
    const end = rest.indexOf('\r\n\r\n');
    head = rest.slice(0, end);
    rest = rest.slice(end + 4);
  } while (rest.startsWith('HTTP/'));
  const [statusLine, ...lines] = head.split('\r\n');
  const headers = new Headers(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
  const isJson =
    rest !== '' && headers.get('content-type')?.startsWith('application/json');
  return {
    status: Number(statusLine.split(' ')[1]),
    headers,
    text: rest,
    json: isJson ? JSON.parse(rest) : undefined,
  };
}

/** A request with these parameters, as `curl -d` sends it. */
export function form(parameters: Record<string, string>) {
  return {
    method: 'POST',
    body: String(new URLSearchParams(parameters)),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  } satisfies AskOptions;
}

/** The same, as `curl -F` sends it. */
export function multipart(parameters: Record<string, string>) {
  return {
    method: 'POST',
    body: [
      ...Object.entries(parameters).map(
        ([name, value]) =>
          `--frame\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
      ),
      '--frame--\r\n',
    ].join(''),
    headers: { 'Content-Type': 'multipart/form-data; boundary=frame' },
  } satisfies AskOptions;
}

/** What an answer is about: a record. */
export function resultOf({
  json,
}: Pick<Answer, 'json'>): Record<string, unknown> {
  return (json as { result: Record<string, unknown> }).result;
}

/** The serial number in an answer: as a number of JSON it would lose digits. */
export function serialOf({ text }: Pick<Answer, 'text'>): string {
  return /"serial_number": ?(\d+)/.exec(text)?.[1] ?? `none: ${text}`;
}
