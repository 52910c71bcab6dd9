export interface Config {
  /**
   * The root HTTP router. Except for health checks, it returns 421 for requests with an unknown
   * `Host` header. The hosts of `backend.baseUrl`, `app.baseUrl`, `directory.fasjson.baseUrl` and
   * `backend.listen` are always accepted, and so are loopback names when the server listens on the
   * loopback interface or on all interfaces.
   *
   * @example
   * ```yaml
   * rootHttpRouter:
   *   allowedHosts: [portal.internal]
   * ```
   */
  rootHttpRouter?: {
    /**
     * Additional host names without port, such as those by which a proxy, a
     * load balancer or another backend (`discovery.endpoints`) reaches this server.
     * @default []
     */
    allowedHosts?: string[];
  };
}
