// Loaded into the portal's process before all other modules (`node --require`):
// adds the plugin `benchmark` to the portal.
//
//   /api/benchmark/constant?size=N   N bytes of JSON: the bare route
//   /api/benchmark/accept?size=N     the same, after accepting the SPNEGO token
//   /api/benchmark/usage             resources of the process; its longest stop
//                                    is that since the last request with ?reset

const defaults = require('@backstage/backend-defaults');
const {
  coreServices,
  createBackendPlugin,
} = require('@backstage/backend-plugin-api');
const { createRequire } = require('node:module');
const { join } = require('node:path');
const { monitorEventLoopDelay } = require('node:perf_hooks');

// The working directory is the portal's.
const requireFromPortal = createRequire(join(process.cwd(), 'index.js'));
const { kerberosServiceRef } = requireFromPortal('@directory-gateway/kerberos');

const RESOLUTION_MS = 10;
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();

function usage() {
  const { user, system } = process.cpuUsage();
  return {
    cpuMs: (user + system) / 1000,
    rssBytes: process.memoryUsage.rss(),
    highestRssBytes: process.resourceUsage().maxRSS * 1024,
    // The delay of a timer includes its interval.
    longestStopMs: Math.max(0, delay.max / 1e6 - RESOLUTION_MS),
  };
}

async function respond(req, res, kerberos) {
  if (req.path === '/usage') {
    res.json(usage());
    if ('reset' in req.query) {
      delay.reset();
    }
    return;
  }
  const { outcome } =
    req.path === '/accept'
      ? await kerberos.accept(req.headers.authorization)
      : { outcome: 'accepted' };
  const length = Number(req.query.size) - '{"result":""}'.length;
  res
    .status(outcome === 'accepted' ? 200 : 401)
    .json({ result: 'x'.repeat(Math.max(0, length)) });
}

const plugin = createBackendPlugin({
  pluginId: 'benchmark',
  register(env) {
    env.registerInit({
      deps: { router: coreServices.httpRouter, kerberos: kerberosServiceRef },
      async init({ router, kerberos }) {
        router.addAuthPolicy({ path: '/', allow: 'unauthenticated' });
        router.use((req, res) => respond(req, res, kerberos));
      },
    });
  },
});

const { createBackend } = defaults;
defaults.createBackend = () => {
  const backend = createBackend();
  backend.add(plugin);
  return backend;
};
