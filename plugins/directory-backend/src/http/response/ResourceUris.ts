/**
 * Creates the URIs of resources. They are absolute and derive from the
 * configured external URL, never from headers of the request.
 */
export class ResourceUris {
  /** URL above `/v1/`, without a trailing slash. */
  readonly root: string;
  readonly #base: string;

  /** @param baseUrl - such as `https://portal.example.org/api/directory` */
  constructor(baseUrl: string) {
    this.root = baseUrl.replace(/\/+$/, '');
    this.#base = `${this.root}/v1`;
  }

  /** The URI of an operation's path, which is in Express's syntax. */
  at(template: string, params: Readonly<Record<string, string>>): string {
    const path = template.replace(/:(\w+)(?:\([^)]*\))?/g, (_, name) =>
      encodeURIComponent(params[name]),
    );
    return `${this.#base}${path}`;
  }

  /** The URI of a user. */
  user(username: string): string {
    return `${this.#base}/users/${encodeURIComponent(username)}/`;
  }

  /** The URI of a group. */
  group(groupname: string): string {
    return `${this.#base}/groups/${encodeURIComponent(groupname)}/`;
  }

  /** The URI of a certificate. */
  certificate(serialNumber: bigint): string {
    return `${this.#base}/certs/${serialNumber}/`;
  }
}
