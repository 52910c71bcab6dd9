import { NotAllowedError } from '@backstage/errors';
import type { Config } from '@backstage/config';
import type { Request, Response } from 'express';

/*
 * Paths as Express matches them: case-insensitively, and with repeated slashes
 * wherever Backstage mounts a router.
 */
const API = /^\/api(\/|$)/i;
const AUTH = /^\/api\/+auth\//i;
const DIRECTORY = /^\/api\/+directory\/+(v1|fasjson)\//i;
const ACTIONS = /^\/api\/+([^/]+)\/+\.backstage\/+actions(\/|$)/i;
const SCHEDULER = /^\/api\/+[^/]+\/+\.backstage\/+scheduler(\/|$)/i;

/**
 * Refuses requests below `/api` with 403:
 *
 * - requests from other sites: see {@link isForbiddenCrossSite};
 * - `/api/<plugin>/.backstage/scheduler/`, where Backstage lets every signed-in
 *   user list, start and cancel the tasks of the plugin;
 * - `/api/<plugin>/.backstage/actions/` unless the plugin is `directory` or
 *   listed in `backend.actions.pluginSources`: many actions require no
 *   permission and parse input from any signed-in user.
 *
 * @returns a function that throws NotAllowedError
 */
export function guardApi(
  config: Config,
): (req: Request, res: Response) => void {
  const actionSources = [
    'directory',
    ...(config.getOptionalStringArray('backend.actions.pluginSources') ?? []),
  ];
  return (req, res) => {
    if (!API.test(req.path)) {
      return;
    }
    if (isForbiddenCrossSite(req, res)) {
      throw new NotAllowedError('Cross-site requests are not allowed.');
    }
    if (SCHEDULER.test(req.path)) {
      throw new NotAllowedError(
        'The routes of the scheduler are not available.',
      );
    }
    const source = ACTIONS.exec(req.path)?.[1].toLowerCase();
    if (source !== undefined && !actionSources.includes(source)) {
      throw new NotAllowedError(
        `The actions of the plugin "${source}" are not available. Add it to backend.actions.pluginSources.`,
      );
    }
  };
}

/**
 * Whether a browser sends a request for a page of another site and the request
 * is not allowed. A browser adds cookies and SPNEGO tokens to such requests.
 * Origins of `backend.cors` are allowed, and so are navigations of the whole
 * window: links to documents, and the redirects and forms of an identity
 * provider to `/api/auth`. The API of the directory plugin checks the origin of
 * writes and exports itself, and audits refusals.
 */
function isForbiddenCrossSite(req: Request, res: Response): boolean {
  if (
    req.headers['sec-fetch-site'] !== 'cross-site' ||
    DIRECTORY.test(req.path)
  ) {
    return false;
  }
  const isNavigation =
    req.headers['sec-fetch-mode'] === 'navigate' &&
    req.headers['sec-fetch-dest'] === 'document' &&
    (['GET', 'HEAD'].includes(req.method) || AUTH.test(req.path));
  const { origin } = req.headers;
  const isCorsOrigin =
    origin !== undefined && res.get('Access-Control-Allow-Origin') === origin;
  return !isNavigation && !isCorsOrigin;
}
