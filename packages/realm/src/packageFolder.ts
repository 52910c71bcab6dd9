import { dirname, join } from 'node:path';

/** This package, which runs from its sources only. */
export const PACKAGE_FOLDER = dirname(
  require.resolve('@directory-gateway/realm/package.json'),
);

/** The repository that the package is part of. */
export const REPOSITORY_FOLDER = join(PACKAGE_FOLDER, '../..');
