// A Jest transformer that delegates to another one. The keys of its cache do not
// contain the configuration of the package, on which the output does not depend.

exports.createTransformer = ({ path, config }) => {
  const { createTransformer, ...plain } = require(path);
  const transformer = createTransformer ? createTransformer(config) : plain;
  const { getCacheKey } = transformer;
  return getCacheKey
    ? {
        ...transformer,
        getCacheKey: (source, file, options) =>
          getCacheKey(source, file, { ...options, configString: '' }),
      }
    : transformer;
};
