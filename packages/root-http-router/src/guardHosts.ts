import { readHttpServerOptions } from '@backstage/backend-defaults/rootHttpRouter';
import type { Config } from '@backstage/config';
import type { Request } from 'express';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
/** Values of `backend.listen` for all interfaces. */
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
 * @returns a function that returns the error of a refused request
 * @throws Error when `rootHttpRouter.allowedHosts` contains a value that is not
 * a host name
 */
export function guardHosts(
  config: Config,
): (req: Request) => Error | undefined {
  const allowed = readAllowedHosts(config);
  return req => {
    const host = hostnameOf(req.headers.host);
    if ((host && allowed.has(host)) || HEALTH_CHECK.test(req.path)) {
      return undefined;
    }
    const error = new Error(
      'The host name of this request is not served here. Administrators: see rootHttpRouter.allowedHosts.',
    );
    error.name = 'MisdirectedRequestError';
    return Object.assign(error, { statusCode: 421 });
  };
}

function readAllowedHosts(config: Config): ReadonlySet<string> {
  const allowed = new Set<string>();
  const add = (url: string | undefined) => {
    if (url && URL.canParse(url)) {
      allowed.add(new URL(url).hostname);
    }
  };

  add(config.getOptionalString('backend.baseUrl'));
  add(config.getOptionalString('app.baseUrl'));
  add(config.getOptionalString('directory.fasjson.baseUrl'));
  // Requests of other plugins use the internal URLs of Backstage's discovery
  // service, which are these or consist of the listen address.
  for (const endpoint of config.getOptionalConfigArray('discovery.endpoints') ??
    []) {
    const target = endpoint.getOptional('target');
    if (typeof target === 'string') {
      add(target);
    } else {
      add(endpoint.getOptionalString('target.internal'));
      add(endpoint.getOptionalString('target.external'));
    }
  }

  const { host } = readHttpServerOptions(
    config.getOptionalConfig('backend'),
  ).listen;
  const literal = host.includes(':') ? `[${host}]` : host;
  if (ALL_INTERFACES.includes(host) || LOOPBACK.includes(literal)) {
    LOOPBACK.forEach(name => allowed.add(name));
  } else {
    add(`http://${literal}`);
  }

  const key = 'rootHttpRouter.allowedHosts';
  for (const name of config.getOptionalStringArray(key) ?? []) {
    const normal = hostnameOf(name);
    if (!normal || normal !== name.toLowerCase()) {
      throw new Error(`${key}: "${name}" is not a host name without port`);
    }
    allowed.add(normal);
  }
  return allowed;
}

/** Returns the name in a `Host` header, in lower case and without the port. */
function hostnameOf(host: string | undefined): string | undefined {
  const [, name] = /^(\[[\da-f:.]+\]|[^\s:/?#@[\]\\]+)(?::\d*)?$/i.exec(
    host ?? '',
  ) ?? [undefined, undefined];
  return name?.toLowerCase();
}
