/**
 * The `uri` fields: absolute, from the configured external base URL, never
 * from a header of the request.
 */
export class ResourceUris {
  /** What is above `/v1/`, without a slash at its end. */
  readonly root: string;
  readonly #base: string;

  /** Of what is above `/v1/`, for example `https://portal.example.org/api/directory`. */
  constructor(baseUrl: string) {
    this.root = baseUrl.replace(/\/+$/, '');
    this.#base = `${this.root}/v1`;
  }

  /** What an operation's path, in Express's syntax, stands for. */
  at(template: string, params: Readonly<Record<string, string>>): string {
    const path = template.replace(/:(\w+)(?:\([^)]*\))?/g, (_, name) =>
      encodeURIComponent(params[name]),
    );
    return `${this.#base}${path}`;
  }

  /** The user resource of a name. */
  user(username: string): string {
    return `${this.#base}/users/${encodeURIComponent(username)}/`;
  }

  /** The group resource of a name. */
  group(groupname: string): string {
    return `${this.#base}/groups/${encodeURIComponent(groupname)}/`;
  }

  /** The certificate resource of a serial number. */
  certificate(serialNumber: bigint): string {
    return `${this.#base}/certs/${serialNumber}/`;
  }
}
