import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

const SCRIPT = resolve(__dirname, '../scripts/bundle-size.mjs');

describe('what the pages add to a portal', () => {
  it('is within the budget', async () => {
    // In a process of its own: esbuild refuses jsdom's Uint8Array.
    const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT]);
    expect(stdout).toContain('before any page');
  });
});
