export interface Config {
  /** The root HTTP router. All of it is optional. */
  rootHttpRouter?: {
    /**
     * Further host names, without port, that the `Host` header of a request may contain. Default:
     * none.
     *
     * The hosts of `backend.baseUrl`, `app.baseUrl`, `directory.fasjson.baseUrl`, `discovery.endpoints` and `backend.listen` are
     * always accepted, and loopback names where the server listens on the loopback interface or
     * on all interfaces. Other requests get 421, except health checks. Add the name under which a
     * proxy, a load balancer or another backend reaches this server.
     */
    allowedHosts?: string[];
  };
}
