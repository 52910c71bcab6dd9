import { readHttpServerOptions } from '@backstage/backend-defaults/rootHttpRouter';
import type { Config } from '@backstage/config';
import type { Request } from 'express';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
/** Values of `backend.listen` for all interfaces, which include loopback. */
const ALL_INTERFACES = ['', '::', '0.0.0.0'];
/**
 * Health checks of load balancers and Kubernetes, which use the address of the
 * process: Backstage's and those of plugins below `healthz`.
 */
const HEALTH_CHECK = /^\/(\.backstage\/health|api\/[^/]+(\/[^/]+)?\/healthz)\//;

/**
 * Refuses requests with 421 when the `Host` header is not a host name of this
 * portal, so that a page whose DNS name was rebound to this server cannot send
 * requests to it (DNS rebinding). Ports are ignored, and so is
 * `X-Forwarded-Host`.
 *
 * @returns a function that throws an error with the status
 * @throws Error when `rootHttpRouter.allowedHosts` contains a value that is not
 * a host name
 */
export function guardHosts(config: Config): (req: Request) => void {
  const allowed = readAllowedHosts(config);
  return req => {
    const host = hostnameOf(req.headers.host);
    if ((host && allowed.has(host)) || HEALTH_CHECK.test(req.path)) {
      return;
    }
    const error = new Error(
      'The host name of this request is not served here. Administrators: see rootHttpRouter.allowedHosts.',
    );
    error.name = 'MisdirectedRequestError';
    throw Object.assign(error, { statusCode: 421 });
  };
}

function readAllowedHosts(config: Config): ReadonlySet<string> {
  const key = 'rootHttpRouter.allowedHosts';
  const names = config.getOptionalStringArray(key) ?? [];
  const invalid = names.find(name => hostnameOf(name) !== name.toLowerCase());
  if (invalid !== undefined) {
    throw new Error(`${key}: "${invalid}" is not a host name without port`);
  }
  const urls = ['backend.baseUrl', 'app.baseUrl', 'directory.fasjson.baseUrl']
    .map(name => config.getOptionalString(name) ?? '')
    .filter(url => URL.canParse(url));
  const { host } = readHttpServerOptions(
    config.getOptionalConfig('backend'),
  ).listen;
  const address = host.includes(':') ? `[${host}]` : host;
  return new Set([
    ...names.map(name => name.toLowerCase()),
    ...urls.map(url => new URL(url).hostname),
    ...(ALL_INTERFACES.includes(host) || LOOPBACK.includes(address)
      ? LOOPBACK
      : [address.toLowerCase()]),
  ]);
}

/** Returns the name in a `Host` header, in lower case and without the port. */
function hostnameOf(host = ''): string | undefined {
  const name = /^(\[[\da-f:.]+\]|[^\s:/?#@[\]\\]+)(?::\d*)?$/i.exec(host)?.[1];
  return name?.toLowerCase();
}
