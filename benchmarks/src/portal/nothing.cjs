// A backend feature that adds nothing.

const { createBackendFeatureLoader } = require('@backstage/backend-plugin-api');

module.exports = { default: createBackendFeatureLoader({ loader: () => [] }) };
