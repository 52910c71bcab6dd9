// Options for Backstage's ESLint configuration, which each package passes to
// @backstage/cli/config/eslint-factory. The root's .eslintrc.js has no effect on
// no-restricted-syntax, which the factory sets for each package.

const { join } = require('node:path');

const spreads = {
  selector: ':matches(SpreadElement, JSXSpreadAttribute) > ObjectExpression',
  message: 'Write out the properties.',
};

const backend = 'plugins/directory-backend/src';

/**
 * Who may import what (docs/architecture.md, "Packages"). Tests may import
 * everything of their package and of packages below it.
 */
const testZones = [
  {
    target: 'packages/directory-core',
    from: ['packages/ldap', 'plugins/directory-backend'],
    message: 'The domain does not depend on LDAP or on the plugin.',
  },
  {
    target: 'packages/ldap',
    from: 'plugins/directory-backend',
    message: 'The LDAP adapter does not depend on the plugin.',
  },
];
const zones = [
  ...testZones,
  {
    target: [`${backend}/!(create*|config).ts`, `${backend}/!(doctor)/**/*`],
    from: 'packages/ldap',
    message: 'Only config.ts, factories (createX.ts) and doctor/ know LDAP.',
  },
  {
    target: `${backend}/http`,
    from: backend,
    except: [
      './http',
      './access',
      './apiErrors.ts',
      './certificates',
      './changes',
    ],
    message: 'http/ translates requests; what it needs is passed to it.',
  },
  {
    target: ['access', 'actions'].map(name => `${backend}/${name}`),
    from: `${backend}/http`,
    message: 'Access control and actions do not depend on HTTP.',
  },
  ...['certificates', 'changes'].map(name => ({
    target: `${backend}/${name}`,
    from: backend,
    except: [`./${name}`, './portalUsers'],
    message: `${name}/ depends on packages only, not on HTTP.`,
  })),
];
const restrictedPaths = list => [
  'error',
  { basePath: join(__dirname, '..'), zones: list },
];

module.exports = {
  // The resolver of import/no-restricted-paths.
  settings: {
    'import/resolver': {
      node: {
        extensions: ['.ts', '.tsx', '.js', '.json'],
        // Packages of the project are links.
        preserveSymlinks: false,
      },
    },
  },
  testRules: { 'import/no-restricted-paths': restrictedPaths(testZones) },
  // For tests.
  restrictedSyntax: [spreads],
  rules: {
    'import/no-restricted-paths': restrictedPaths(zones),
    // For other files; replaces the factory's rule for frontend packages.
    'no-restricted-syntax': [
      'error',
      spreads,
      {
        selector:
          "ImportDeclaration[source.value='react'] :matches(ImportDefaultSpecifier, ImportNamespaceSpecifier)",
        message: 'Import from react by name.',
      },
    ],
  },
};
