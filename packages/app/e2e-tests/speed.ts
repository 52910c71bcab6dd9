import { PostgresServer } from '@directory-gateway/realm';
import type { Page } from '@playwright/test';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureCertificates } from './certificates';
import { openPalette } from './scenes/paletteScenes';
import { alice, expect, test as base } from './test';

/** Samples of each row of the tables. */
const SAMPLES = 20;

/** Time without requests after which the layout does not change, in milliseconds. */
const QUIET_MS = 500;

/** Period in which an idle machine uses less than a tenth of its CPU time. */
const IDLE_SAMPLE_MS = 5_000;

/** Pages, and selectors of what they show besides their skeletons. */
const PAGES: readonly { name: string; path: string; shows: string }[] = [
  { name: 'home', path: '/', shows: 'li a[href*="/people/"]' },
  {
    name: 'people',
    path: '/directory/people',
    shows: 'li a[href*="/people/"]',
  },
  {
    name: 'person',
    path: '/directory/people/alice',
    shows: '[role="tabpanel"] a',
  },
  { name: 'groups', path: '/directory/groups', shows: 'tbody a' },
  {
    name: 'largest group',
    path: '/directory/groups/contributors',
    shows: 'li a[href*="/people/"]',
  },
  {
    name: 'certificates',
    path: '/directory/certificates',
    shows: 'li a[href*="/certificates/"]',
  },
  {
    name: 'certificate',
    path: '/directory/certificates/{serial}',
    shows: 'ol li',
  },
  {
    name: 'request',
    path: '/directory/certificates/request',
    shows: 'input[type="radio"]',
  },
];

/**
 * The portal with PostgreSQL, as for a large directory. In memory, the search
 * index of 20,000 users would occupy the portal for a quarter of a minute every
 * ten minutes.
 */
const test = base.extend<object, object>({
  portalConfig: [
    // eslint-disable-next-line no-empty-pattern -- Playwright requires a pattern
    async ({}, provide) => {
      const postgres = await PostgresServer.start();
      const folder = await mkdtemp(join(tmpdir(), 'speed-'));
      const file = join(folder, 'app-config.json');
      const { host, user } = postgres.connection('postgres');
      const database = { client: 'pg', connection: { host, user } };
      await writeFile(file, JSON.stringify({ backend: { database } }));
      await provide(['portal.yaml', file]);
      await postgres.stop();
      await rm(folder, { recursive: true });
    },
    { scope: 'worker', timeout: 60_000 },
  ],
});

/**
 * Prints how long pages and searches take; does not compare with the goals.
 * `USERS=20000 scripts/browser speed`
 */
test('speed', async ({ portal, openBrowserAs }) => {
  test.setTimeout(3_600_000);
  const page = await openBrowserAs(alice);
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.goto(`${portal.url}/directory/people`);
  const { valid } = await ensureCertificates(page, 'alice');
  const usernames = await listUsernames(page);
  await untilIdle();

  printHead('page | ms to content (goal 500) | layout shift (goal 0.05)');
  for (const { name, path, shows } of PAGES) {
    const times: number[] = [];
    const shifts: number[] = [];
    for (let sample = 0; sample < SAMPLES; sample += 1) {
      await loadApp(page, portal.url, '/settings');
      const target = path.replace('{serial}', valid);
      times.push(await navigate(page, target, shows));
      await page.waitForTimeout(QUIET_MS);
      shifts.push(await layoutShift(page));
    }
    printRow(`${name} | ${summary(times, 0)} | ${summary(shifts, 3)}`);
  }

  printHead('search | ms from last key to result (goal 300)');
  for (const [name, path, focus, shows] of [
    ['people', '/directory/people', focusPeopleSearch, 'li a[href$="/USER"]'],
    ['palette', '/directory/groups', openPalette, '[role="option"]'],
  ] as const) {
    const times: number[] = [];
    for (const username of usernames) {
      await loadApp(page, portal.url, path);
      await focus(page);
      times.push(await search(page, username, shows.replace('USER', username)));
    }
    printRow(`${name} | ${summary(times, 0)}`);
  }
});

/** Returns user names from the middle of the list. */
async function listUsernames(page: Page): Promise<readonly string[]> {
  const path = '/api/directory/v1/users/?page_size=20&page_number=4';
  const response = await page.evaluate(
    async url => await (await fetch(url)).json(),
    path,
  );
  const users: { username: string }[] = response.result;
  return users.map(({ username }) => username).slice(0, SAMPLES);
}

/** Waits until the portal has imported its users into the catalog. */
async function untilIdle(): Promise<void> {
  let before = cpuTimes();
  let used = 1;
  while (used > 0.1) {
    await sleep(IDLE_SAMPLE_MS);
    const now = cpuTimes();
    used = (now.busy - before.busy) / (now.total - before.total);
    before = now;
  }
}

/** Returns the CPU time of all processes since the boot, in milliseconds. */
function cpuTimes() {
  const times = cpus().map(({ times: { idle, ...busy } }) => ({
    idle,
    busy: Object.values(busy).reduce((sum, value) => sum + value, 0),
  }));
  const busy = times.reduce((sum, cpu) => sum + cpu.busy, 0);
  return { busy, total: times.reduce((sum, cpu) => sum + cpu.idle, busy) };
}

/** Loads the app, and with it an empty cache of API responses. */
async function loadApp(page: Page, url: string, path: string): Promise<void> {
  await page.goto(`${url}${path}`);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await page.waitForLoadState('networkidle');
}

async function focusPeopleSearch(page: Page): Promise<void> {
  await expect(page.getByRole('searchbox')).toBeFocused();
}

/**
 * Opens a page as a link in the app does.
 *
 * @returns the time until the frame without skeletons, in milliseconds
 */
async function navigate(page: Page, path: string, shows: string) {
  return await page.evaluate(
    async ([target, selector]) => {
      const shifts: number[] = [];
      Object.assign(window, { shifts });
      new PerformanceObserver(list => {
        for (const entry of list.getEntries()) {
          shifts.push((entry as PerformanceEntry & { value: number }).value);
        }
      }).observe({ type: 'layout-shift' });
      const start = performance.now();
      history.pushState(null, '', target);
      await new Promise<void>(done => {
        const check = () => {
          const main = document.querySelector('main');
          const isLoaded =
            main?.querySelector(selector) &&
            !main.querySelector('[aria-label="Loading"]');
          return isLoaded ? done() : requestAnimationFrame(check);
        };
        requestAnimationFrame(check);
      });
      return performance.now() - start;
    },
    [path, shows],
  );
}

/** Returns the sum of the layout shifts since the navigation. */
async function layoutShift(page: Page): Promise<number> {
  return await page.evaluate(() =>
    (window as unknown as { shifts: number[] }).shifts.reduce(
      (sum, value) => sum + value,
      0,
    ),
  );
}

/**
 * Types a text.
 *
 * @returns the time from the last key until the frame with the result of the
 *   whole text, in milliseconds
 */
async function search(page: Page, text: string, shows: string) {
  const result = page.evaluate(
    async ([typed, selector]) => {
      let lastKey = 0;
      addEventListener('keydown', event => (lastKey = event.timeStamp), true);
      performance.setResourceTimingBufferSize(10_000);
      const query = `q=${encodeURIComponent(typed)}`;
      await new Promise<void>(done => {
        const check = () => {
          const isLoaded = performance
            .getEntriesByType('resource')
            .some(({ name }) => name.includes(query));
          return isLoaded && document.querySelector(selector)
            ? done()
            : requestAnimationFrame(check);
        };
        requestAnimationFrame(check);
      });
      return performance.now() - lastKey;
    },
    [text, shows],
  );
  await page.keyboard.type(text);
  return await result;
}

/** Returns the median and the range. */
function summary(samples: readonly number[], digits: number): string {
  const sorted = [...samples].sort((a, b) => a - b);
  const [least, median, most] = [0, 0.5, 1].map(part =>
    sorted[Math.round(part * (sorted.length - 1))].toFixed(digits),
  );
  return `${median} (${least}–${most})`;
}

/** Prints the first lines of a Markdown table. */
function printHead(columns: string): void {
  process.stdout.write('\n');
  printRow(columns);
  printRow(columns.replace(/[^|]+/g, ' --- ').trim());
}

function printRow(cells: string): void {
  process.stdout.write(`| ${cells} |\n`);
}
