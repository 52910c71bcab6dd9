/**
 * The `uri` fields: absolute, from the configured external base URL, never
 * from a header of the request.
 */
export class ResourceUris {
  readonly #base: string;

  /** `externalBaseUrl` is the plugin's, for example `https://portal.example.org/api/directory`. */
  constructor(externalBaseUrl: string) {
    this.#base = `${externalBaseUrl.replace(/\/+$/, '')}/v1`;
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
