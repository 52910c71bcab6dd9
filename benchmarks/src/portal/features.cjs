// Backend features that replace a module that the benchmark does not use: the
// module itself, and a plugin whose only route returns a constant response. The
// directory plugin is replaced by no features.

const {
  coreServices,
  createBackendFeatureLoader,
  createBackendPlugin,
} = require('@backstage/backend-plugin-api');
const { readBody, requireFromPortal } = require('./constantResponse.cjs');

const MODULE =
  '@directory-gateway/backstage-plugin-directory-backend-module-freeipa-ca';

function benchmarkPlugin() {
  const { kerberosServiceRef } = requireFromPortal(
    '@directory-gateway/kerberos',
  );
  return createBackendPlugin({
    pluginId: 'benchmark',
    register(env) {
      env.registerInit({
        deps: { router: coreServices.httpRouter, kerberos: kerberosServiceRef },
        async init({ router, kerberos }) {
          router.addAuthPolicy({ path: '/', allow: 'unauthenticated' });
          router.use(async (req, res) => {
            const body = await readBody(req, kerberos);
            res
              .status(body ? 200 : 401)
              .type('json')
              .send(body);
          });
        },
      });
    },
  });
}

module.exports = {
  default: createBackendFeatureLoader({
    loader: () =>
      process.env.BENCHMARK_VARIANT === 'none'
        ? []
        : [requireFromPortal(MODULE).default, benchmarkPlugin()],
  }),
};
