// Options for Backstage's ESLint configuration, which each package passes to
// @backstage/cli/config/eslint-factory. A rule of the root's .eslintrc.js would
// not count: the factory sets no-restricted-syntax for each package.

const spreads = {
  selector: ':matches(SpreadElement, JSXSpreadAttribute) > ObjectExpression',
  message: 'Write the properties out.',
};

module.exports = {
  // In tests.
  restrictedSyntax: [spreads],
  rules: {
    // In other files; replaces what the factory sets for frontend packages.
    'no-restricted-syntax': [
      'error',
      spreads,
      {
        selector:
          "ImportDeclaration[source.value='react'] :matches(ImportDefaultSpecifier, ImportNamespaceSpecifier)",
        message: 'Import what is needed from react by name.',
      },
    ],
  },
};
