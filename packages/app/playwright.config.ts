import { defineConfig } from '@playwright/test';

const results = '../../.build/e2e';

/**
 * Browser tests and screenshots of the production build (`scripts/build`). Uses
 * Debian's Chromium; nothing is downloaded.
 */
export default defineConfig({
  testDir: 'e2e-tests',
  outputDir: `${results}/artifacts`,
  // Each worker has its own realm, portal and browsers. Some machines have only
  // two cores.
  workers: 2,
  timeout: 600_000,
  expect: { timeout: 90_000 },
  forbidOnly: Boolean(process.env.CI),
  reporter: [['list'], ['json', { outputFile: `${results}/results.json` }]],
  projects: [
    { name: 'tests', testMatch: '*.test.ts' },
    { name: 'screenshots', testMatch: 'screenshots.ts' },
    { name: 'speed', testMatch: 'speed.ts' },
  ],
});
