import {
  type DoctorCheck,
  type DoctorFinding,
  explainConnectionError,
  finding,
  requireSecureTransport,
} from '@directory-gateway/backstage-plugin-directory-node';
import { MAX_TOKEN_BYTES } from '@directory-gateway/kerberos';
import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { checkDatabase } from './checkDatabase';
import type { Portal } from './Portal';
import { codeOf } from './runChecks';

const ALLOW_ALL_MODULE =
  '@backstage/plugin-permission-backend-module-allow-all-policy';

/** Path of a document below the plugin that needs no credentials. */
const PUBLIC_PATH = '/api/directory/healthz/live';

/** Checks of the portal's URLs, permissions and database. */
export function portalChecks(portal: Portal): readonly DoctorCheck[] {
  return [
    { id: 'base-url', run: () => checkBaseUrl(portal) },
    { id: 'own-certificate', run: () => checkOwnCertificate(portal) },
    { id: 'permissions', run: async () => checkPermissions(portal) },
    { id: 'database', run: () => checkDatabase(portal) },
  ];
}

/**
 * Checks the URL of clients, and that a proxy in front of the portal accepts
 * the longest Kerberos token. Clients decide whether they trust the certificate.
 */
async function checkBaseUrl({
  baseUrl,
  responseMs,
}: Portal): Promise<DoctorFinding> {
  const { hostname, href, origin } = baseUrl;
  requireSecureTransport(href, 'backend.baseUrl');
  if (isIP(hostname.replace(/^\[|\]$/g, ''))) {
    return finding.fail(
      'backend.baseUrl contains an IP address, but Kerberos tickets are issued for host names',
      'set backend.baseUrl to the host name that users enter',
    );
  }
  const bytes = Math.ceil(MAX_TOKEN_BYTES / 3) * 4;
  const request = (headers: Record<string, string>) =>
    get(new URL(PUBLIC_PATH, origin), {
      headers,
      rejectUnauthorized: false,
      timeoutMs: responseMs,
    });
  try {
    const status = await request({});
    const long = { 'X-Directory-Doctor': 'A'.repeat(bytes) };
    const longStatus = await request(long).catch(codeOf);
    return longStatus === status
      ? finding.ok(`${origin} accepts headers of ${bytes} bytes`)
      : finding.warn(
          `${origin} returns ${longStatus} for a header of ${bytes} bytes, but a Kerberos token may need that`,
          'install @directory-gateway/root-http-router in the backend, and set large_client_header_buffers 4 128k in nginx',
        );
  } catch (error) {
    return finding.skip(
      `${origin} does not respond (${codeOf(error)}); start the portal first`,
    );
  }
}

/** Checks that the portal's plugins trust the certificate of their own server. */
async function checkOwnCertificate({
  backend,
  config,
  responseMs,
}: Portal): Promise<DoctorFinding> {
  const { HostDiscovery } = backend.require(
    '@backstage/backend-defaults/discovery',
  ) as typeof import('@backstage/backend-defaults/discovery');
  const discovery = HostDiscovery.fromConfig(config);
  const { origin, protocol } = new URL(await discovery.getBaseUrl('directory'));
  if (protocol === 'http:') {
    return finding.ok(`Plugins call each other at ${origin}, without TLS`);
  }
  try {
    await get(new URL(PUBLIC_PATH, origin), { timeoutMs: responseMs });
    return finding.ok(`Plugins trust the certificate of ${origin}`);
  } catch (error) {
    return /^(?:[A-Z]*CERT|ERR_SSL|ERR_TLS|SELF_SIGNED|UNABLE_TO)/.test(
      codeOf(error),
    )
      ? explainConnectionError(error, {
          url: origin,
          urlKey: 'backend.listen.host, or discovery.endpoints,',
          caKey: 'the environment variable NODE_EXTRA_CA_CERTS of the portal',
        })
      : finding.skip(`${origin} does not respond; start the portal first`);
  }
}

/** Sends a request and returns the status of the response. */
async function get(
  url: URL,
  {
    timeoutMs,
    ...options
  }: https.RequestOptions & { readonly timeoutMs: number },
): Promise<number> {
  const { request } = url.protocol === 'https:' ? https : http;
  const signal = AbortSignal.timeout(timeoutMs);
  const sent = request(url, { ...options, agent: false, signal });
  const [response] = (await once(sent.end(), 'response')) as [IncomingMessage];
  sent.on('error', () => {});
  response.destroy();
  return response.statusCode!;
}

function checkPermissions({ backend, config }: Portal): DoctorFinding {
  if (config.getOptionalBoolean('permission.enabled') !== true) {
    return finding.fail(
      'permission.enabled is not true, so Backstage allows all users to do everything',
      'set permission.enabled: true',
    );
  }
  if (backend.loads(ALLOW_ALL_MODULE)) {
    return finding.fail(
      `The backend loads ${ALLOW_ALL_MODULE}, which allows all users and guests to do everything`,
      `remove backend.add(import('${ALLOW_ALL_MODULE}')) from packages/backend/src/index.ts`,
    );
  }
  const guests = 'permission.directory.dangerouslyAllowGuests';
  return config.getOptionalBoolean(guests)
    ? finding.warn(
        `Guests have the permissions of users (${guests})`,
        `remove ${guests}, unless this portal is a demonstration on localhost`,
      )
    : finding.ok('A permission policy decides');
}
