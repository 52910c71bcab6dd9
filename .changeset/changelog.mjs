// Writes the entries of CHANGELOG.md. All packages have one version, so
// entries about updated dependencies would not add information.
export default {
  getReleaseLine: async ({ summary }) => `- ${summary}`,
  getDependencyReleaseLine: async () => '',
};
