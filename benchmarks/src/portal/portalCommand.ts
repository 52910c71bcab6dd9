import type { Realm } from '@directory-gateway/realm';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sourceFile } from '../folders';

/**
 * As `make start` runs it; docs/operating.md, "Sizes", says why. `NODE_OPTIONS`
 * of the caller's own replace it.
 */
const NODE_OPTIONS = '--max-semi-space-size=16 --max-old-space-size=1024';

/** `none`: the same server without the directory plugin. */
export type PortalVariant = 'replica' | 'none';

/** How a portal's process is started, by `taskset`. */
export function portalCommand(options: {
  readonly realm: Realm;
  readonly variant: PortalVariant;
  readonly cpu: number;
  readonly port: number;
  readonly checkout: string;
}): {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
} {
  const { realm, variant, cpu, port, checkout } = options;
  const imports = [
    'portalProbe.mjs',
    ...(variant === 'none' ? ['withoutDirectory.mjs'] : []),
  ];
  const configs = [
    join(checkout, 'app-config.yaml'),
    join(checkout, 'benchmarks/app-config.benchmarks.yaml'),
  ];
  return {
    args: [
      ...['--cpu-list', `${cpu}`, process.execPath],
      ...imports.flatMap(file => ['--import', fileUrl(file)]),
      'packages/backend',
      ...configs.flatMap(file => ['--config', file]),
    ],
    cwd: process.env.PORTAL || join(checkout, '.build/portal'),
    env: {
      ...process.env,
      ...realm.env,
      NODE_ENV: 'production',
      NODE_OPTIONS: process.env.NODE_OPTIONS ?? NODE_OPTIONS,
      PORT: `${port}`,
      BENCH_CA_KEY: join(realm.dir, `ca-${port}.key`),
    },
  };
}

function fileUrl(name: string): string {
  return pathToFileURL(sourceFile(`portal/${name}`)).href;
}
