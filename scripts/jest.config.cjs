// The CLI's configuration of Jest, except that packages share transformed files:
// otherwise each package transforms and stores the modules that it loads again.

const transformer = require.resolve('./sharedTransformer.cjs');

const share = ([pattern, transform]) => {
  const [path, config = {}] = [transform].flat();
  return [pattern, [transformer, { path, config }]];
};

module.exports = async () => {
  const { projects, ...config } =
    await require('@backstage/cli/config/jest.js');
  return {
    ...config,
    projects: projects.map(project => ({
      ...project,
      transform: Object.fromEntries(
        Object.entries(project.transform).map(share),
      ),
    })),
  };
};
