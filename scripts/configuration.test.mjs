// Checks the documented examples and defaults of the configuration
// (config.d.ts) against the schema and the functions that read it.

import { ConfigReader } from '@backstage/config';
import { loadConfigSchema } from '@backstage/config-loader';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { readBlocks } from './configuration-reference.mjs';

const require = createRequire(import.meta.url);
require('@backstage/cli-node/config/nodeTransform.cjs');

const plugin = path => require(`../plugins/${path}`);
const { readDirectoryConfig } = plugin('directory-backend/src/config.ts');
const { fasjsonDialects } = plugin(
  'directory-backend/src/http/fasjson/fasjsonDialect.ts',
);
const { readEmbeddedCaConfig } = plugin(
  'directory-backend-module-embedded-ca/src/config.ts',
);
const { readFreeIpaConfig } = plugin(
  'directory-backend-module-freeipa-ca/src/FreeIpaConfig.ts',
);
const { readStepCaConfig } = plugin(
  'directory-backend-module-step-ca/src/StepCaConfig.ts',
);
const { createSignInResolver } = plugin(
  'auth-backend-module-kerberos-provider/src/resolvers.ts',
);
const { readProviderConfig } = plugin(
  'catalog-backend-module-directory/src/module.ts',
);
const { DirectoryPermissionPolicy } = plugin(
  'permission-backend-module-directory/src/DirectoryPermissionPolicy.ts',
);
const { readKerberosConfig } = require('../packages/kerberos/src/index.ts');
const {
  guardHosts,
} = require('../packages/root-http-router/src/guardHosts.ts');

/**
 * Returns the required keys, and one element of each list whose elements have
 * defaults.
 */
const minimal = () => ({
  app: { baseUrl: 'https://portal.example.org' },
  backend: {
    baseUrl: 'https://portal.example.org',
    listen: ':7007',
    database: { client: 'better-sqlite3', connection: ':memory:' },
  },
  permission: { enabled: true },
  auth: {
    providers: {
      kerberos: {
        signIn: { resolvers: [{ resolver: 'usernameMatchingUserEntityName' }] },
      },
    },
  },
  directory: {
    ldap: {
      srv: { name: '_ldaps._tcp.example.org' },
      baseDn: 'dc=example,dc=org',
      bindDn: 'uid=portal',
      bindPassword: 'secret',
    },
    access: [{ operations: ['directory.read'] }],
    portalUsers: { namespace: 'default', username: 'entityName' },
    certificates: {
      authority: 'embedded',
      embedded: {
        organization: 'EXAMPLE.ORG',
        issuers: [
          {
            chainFile: '/etc/portal/ca/intermediate.pem',
            keyFile: '/etc/portal/ca/intermediate.key',
          },
        ],
        profiles: [{ name: 'userCerts' }],
      },
      freeipa: {
        servers: ['https://ipa.example.org'],
        caFile: '/etc/ipa/ca.crt',
        login: { principal: 'HTTP/portal.example.org@EXAMPLE.ORG' },
      },
      stepCa: {
        url: 'https://ca.example.org:9000',
        rootFile: '/etc/portal/step-ca/root.pem',
        provisionerKeyFile: '/etc/portal/step-ca/provisioner.jwk',
        profiles: [{ name: 'userCerts' }],
      },
    },
  },
});

function isAccepted(check) {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}

/**
 * Reads a configuration as the packages do, and returns values that can be
 * compared.
 */
async function readAll(data) {
  const config = new ConfigReader(data);
  const checkHost = guardHosts(config);
  createSignInResolver({
    config: config.getConfig('auth.providers.kerberos'),
    foreignRealms: [],
    accounts: {},
    users: { hasTrustedLocations: true },
  });
  const policy = DirectoryPermissionPolicy.fromConfig(config);
  const guestMayRead = await policy.handle(
    { permission: { name: 'directory.read' } },
    {
      info: {
        userEntityRef: 'user:development/guest',
        ownershipEntityRefs: [],
      },
    },
  );
  return {
    isHostAllowed: isAccepted(() =>
      checkHost({ headers: { host: 'other' }, path: '/' }),
    ),
    guestMayRead,
    provider: readProviderConfig(config),
    kerberos: readKerberosConfig(config),
    directory: readDirectoryConfig(config),
    embedded: readEmbeddedCaConfig(config),
    freeIpa: readFreeIpaConfig(config),
    stepCa: readStepCaConfig(config),
    dialects: fasjsonDialects(config, 'https://portal.example.org').length,
  };
}

/** Keys of frontend components. */
const FRONTEND = /^(auth\.providers\.guest|directory\.pages)\b/;

/** Sets the value of a path such as `profiles[].validity`, in the first element. */
function set(data, path, value) {
  const keys = path.replaceAll('[]', '.0').split('.');
  const last = keys.pop();
  let parent = data;
  for (const key of keys) {
    parent = parent[key] ??= {};
  }
  parent[last] = value;
}

function merge(one, other) {
  for (const [key, value] of Object.entries(other)) {
    const isObject = value?.constructor === Object && one[key] !== undefined;
    one[key] = isObject ? merge(one[key], value) : value;
  }
  return one;
}

const blocks = readBlocks();
const schema = await loadConfigSchema({
  dependencies: ['app', 'backend'],
  noUndeclaredProperties: true,
});

describe('the documented example', () => {
  for (const { path, example } of blocks) {
    it(`of ${path} is valid`, async () => {
      const data = minimal();
      if (path !== 'directory') {
        set(data, path, undefined);
      }
      merge(data, parse(example));
      schema.process([{ data, context: 'example' }]);
      await readAll(data);
    });
  }
});

describe('the shipped configuration', () => {
  const read = context => ({
    data: parse(
      readFileSync(new URL(`../${context}`, import.meta.url), 'utf8'),
    ),
    context,
  });

  for (const name of ['demo', 'production']) {
    it(`for ${name} is valid`, () => {
      schema.process([
        read('app-config.yaml'),
        read(`app-config.${name}.yaml`),
      ]);
    });
  }

  for (const names of [['portal'], ['api'], ['api', 'freeipa-ca']]) {
    it(`of examples/${names.join(', ')} is valid`, () => {
      const files = names.map(name => read(`examples/${name}.yaml`));
      schema.process([read('app-config.yaml'), ...files]);
      const data = files.reduce((one, file) => merge(one, file.data), {});
      // Are read from files, which do not exist here.
      delete data.directory.ldap.bindPasswordFile;
      data.directory.ldap.bindPassword = 'secret';
      const config = new ConfigReader(data);
      readKerberosConfig(config);
      const { certificates } = readDirectoryConfig(config);
      assert.equal(certificates?.authority, names[1] && 'freeipa');
    });
  }
});

describe('the documented default', () => {
  const keys = blocks
    .flatMap(block =>
      [...block.keys.values()].map(({ key, default: value }) => ({
        path: `${block.path}.${key}`.replace('.[]', '[]'),
        value,
      })),
    )
    .filter(({ path, value }) => value !== undefined && !FRONTEND.test(path));
  assert.ok(keys.length > 40);

  for (const { path, value } of keys) {
    it(`of ${path} is the default in the code`, async () => {
      const data = minimal();
      const implicit = await readAll(data);
      set(data, path, value);
      assert.deepEqual(await readAll(data), implicit);
    });
  }
});
