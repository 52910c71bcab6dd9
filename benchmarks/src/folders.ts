import { dirname, join } from 'node:path';

/** This package, which runs from its sources only. */
export const BENCH = dirname(
  require.resolve('@directory-gateway/benchmarks/package.json'),
);

/** The repository that the package is part of. */
export const REPOSITORY = dirname(BENCH);

/** A file of this package's sources. */
export function sourceFile(name: string): string {
  return join(BENCH, 'src', name);
}
