import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

const SCRIPT = resolve(__dirname, '../scripts/bundle-size.mjs');

describe('bundle size', () => {
  it('stays within the budget', async () => {
    // Runs in a separate process: esbuild does not accept jsdom's Uint8Array.
    const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT]);
    expect(stdout).toContain('initial');
  });
});
