// Options for Backstage's ESLint configuration, which each package passes to
// @backstage/cli/config/eslint-factory. The root's .eslintrc.js has no effect on
// no-restricted-syntax, which the factory sets for each package.

const spreads = {
  selector: ':matches(SpreadElement, JSXSpreadAttribute) > ObjectExpression',
  message: 'Write out the properties.',
};

module.exports = {
  // For tests.
  restrictedSyntax: [spreads],
  rules: {
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
