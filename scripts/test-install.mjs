// Follows docs/install.md in a portal that @backstage/create-app creates, and
// checks the tarballs of `make pack`. Runs in the environment of a realm, which
// replaces FreeIPA (scripts/test-install).
//
// Prints a line for each step with its duration; the last line is
// "N passed, N failed, N skipped".

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { applyDiff, mergeText, readInstallPage } from './install-page.mjs';
import { checkTarballs } from './check-tarballs.mjs';
import { freePort } from './free-port.mjs';
import { checkFields, FIELDS_TEMPLATE } from './template-fields.mjs';

/** Creates portals of Backstage 1.55; the test updates them to our release. */
const CREATE_APP = '@backstage/create-app@0.9.2';

/**
 * Time until all packages of a release are in the registry; the next release is
 * later.
 */
const RELEASE_MS = 14 * 24 * 60 * 60_000;
/** A package that every release publishes. */
const RELEASED = '@backstage/backend-defaults';
/** Resolutions of this repository that a new portal does not need. */
const OWN_RESOLUTIONS = [
  '@backstage/backend-defaults',
  'react-aria-components',
];
/** Packages of which two versions do not share their state. */
const SINGLE = ['react-aria', 'react-aria-components', 'react-stately'];
const READY_TIMEOUT_MS = 300_000;
const STOP_TIMEOUT_MS = 10_000;

const root = join(import.meta.dirname, '..');
const work = join(root, '.build/test-install');
const portal = join(work, 'portal');
const server = join(work, 'opt');
const template = join(work, 'template.yaml');
const port = await freePort();
const url = `http://localhost:${port}`;

/** Values of the page's example site, and those of the realm. */
const SITE = [
  // The test has one user, and checks that others can run the installation.
  ['sudo -u portal ', ''],
  ['sudo install -d -o "$USER"', 'install -d'],
  ['../directory-gateway', root],
  ['/opt/portal', server],
  ['/etc/portal/http.keytab', process.env.REALM_HTTP_KEYTAB],
  ['/etc/portal/ldap-password', process.env.REALM_BIND_PASSWORD_FILE],
  ['/etc/ipa/ca.crt', process.env.REALM_CA_FILE],
  ['ldaps://ipa1.example.org', process.env.REALM_LDAPS_URL],
  [
    'uid=portal,cn=sysaccounts,cn=etc,dc=example,dc=org',
    process.env.REALM_BIND_DN,
  ],
  ['dc=example,dc=org', process.env.REALM_BASE_DN],
  ['EXAMPLE.ORG', process.env.REALM],
  ['https://portal.example.org', url],
  ['portal.example.org', 'localhost'],
  ['127.0.0.1:7007', `127.0.0.1:${port}`],
  // Adds a template with the optional fields to the catalog.
  [
    'locations: []',
    `locations: [{ type: file, target: ${template}, rules: [{ allow: [Template] }] }]`,
  ],
  // The test cannot type a password.
  ['kinit alice', `kinit -k -t '${process.env.KEYTAB}' alice`],
];
const forSite = text =>
  SITE.reduce((result, [from, to]) => result.replaceAll(from, to), text);

const environment = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(MAKE|MFLAGS|NODE_OPTIONS|PORT$)/.test(name),
    ),
  ),
  KRB5CCNAME: join(work, 'ticket'),
  // The portal's own Yarn 4.13.0 does not run on this Node.js.
  YARN_IGNORE_PATH: '1',
  YARN_ENABLE_TELEMETRY: '0',
  YARN_ENABLE_IMMUTABLE_INSTALLS: 'false',
  // Prevents the browser from upgrading to https.
  'APP_CONFIG_backend_csp_upgrade-insecure-requests': 'false',
};

/** A step failed; its result was printed. */
class StepFailed extends Error {}

const total = { passed: 0, failed: 0, skipped: 0 };
const processes = [];
let printed = '';

try {
  await rm(work, { recursive: true, force: true });
  await mkdir(work, { recursive: true });
  await writeFile(template, FIELDS_TEMPLATE);
  const steps = readInstallPage();
  await attempt('create a portal', createPortal);
  for (const step of steps) {
    const title = `${step.section}: ${titleOf(step)}`;
    if (step.action === 'skip') {
      total.skipped += 1;
      console.log(`skip          ${title}`);
    } else {
      await attempt(title, () => carryOut(step));
    }
    if (step.action === 'run' && step.text.includes(' pack\n')) {
      await attempt('check the tarballs', () =>
        checkTarballs({ root, folder: join(work, 'packages') }),
      );
    }
    if (step.action === 'sign in') {
      await attempt('check that the portal has one React Aria', checkSingle);
      await attempt('select a user and a group in a template', () =>
        inBrowser(({ page, axe }) => checkFields({ page, url, axe })),
      );
    }
  }
} catch (error) {
  if (!(error instanceof StepFailed)) {
    throw error;
  }
} finally {
  for (const child of processes) {
    await stop(child);
  }
  if (!process.env.KEEP) {
    await rm(work, { recursive: true, force: true });
  }
}
console.log(
  `\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`,
);
process.exitCode = total.failed > 0 ? 1 : 0;

function titleOf({ action, operand, text }) {
  const [first] = text.split('\n');
  return ['run', 'start', 'skip'].includes(action)
    ? `${first} ${operand && `(${operand})`}`.trim()
    : `${action} ${operand}`.trim();
}

/**
 * Runs a step and prints its result. A failure ends the run, except for that of
 * the doctor.
 */
async function attempt(title, run) {
  const started = Date.now();
  const seconds = () => `${((Date.now() - started) / 1000).toFixed(1)} s`;
  try {
    await run();
    total.passed += 1;
    console.log(`ok   ${seconds().padStart(8)} ${title}`);
  } catch (error) {
    total.failed += 1;
    console.log(`FAIL ${seconds().padStart(8)} ${title}\n${error.message}`);
    // The other steps do not depend on the doctor's result.
    if (!title.includes('directory-doctor')) {
      throw new StepFailed();
    }
  }
}

/**
 * Creates a portal, and sets the release, the resolutions and the ranges of
 * Backstage's packages to those of this repository: what `backstage-cli
 * versions:bump` does, which needs a server other than the registry. Ignores
 * versions that were published after the release.
 */
async function createPortal() {
  await bash(
    `echo portal | npx --yes ${CREATE_APP} --skip-install --path portal`,
    work,
  );
  for (const file of ['backstage.json', 'yarn.lock']) {
    await copyFile(join(root, file), join(portal, file));
  }
  for (const workspace of ['.', 'packages/app', 'packages/backend']) {
    const file = join(workspace, 'package.json');
    const manifest = await readJson(join(portal, file));
    for (const dependencies of [
      manifest.dependencies ?? {},
      manifest.devDependencies ?? {},
    ]) {
      for (const name of Object.keys(dependencies)) {
        if (name.startsWith('@backstage/')) {
          dependencies[name] = `^${await versionOf(name)}`;
        }
      }
    }
    await change(file, () => `${JSON.stringify(manifest, undefined, 2)}\n`);
  }
  const { resolutions } = await readJson(join(root, 'package.json'));
  OWN_RESOLUTIONS.forEach(name => delete resolutions[name]);
  await change('package.json', text =>
    mergeText(text, JSON.stringify({ resolutions })),
  );
  const age = Date.now() - (await releaseEnd());
  const minutes = Math.max(0, Math.floor(age / 60_000));
  await change('.yarnrc.yml', text => {
    const settings =
      /^npmMinimalAgeGate: .*\nnpmPreapprovedPackages:\n {2}- .*\n/m;
    assert.match(text, settings);
    return text.replace(settings, `npmMinimalAgeGate: ${minutes}m\n`);
  });
}

/** Returns the version in this repository, otherwise the newest of the release. */
async function versionOf(name) {
  const installed = join(root, 'node_modules', name, 'package.json');
  const { version } = await readJson(installed).catch(() => ({}));
  if (version !== undefined) {
    return version;
  }
  const end = await releaseEnd();
  const [newest] = Object.entries(await timesOf(name))
    .filter(([each, time]) => /^[\d.]+$/.test(each) && Date.parse(time) <= end)
    .map(([each]) => each)
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  return newest;
}

/** Returns the time at which each version of a package was published. */
async function timesOf(name) {
  return JSON.parse(await bash(`npm view ${name} time --json`, work));
}

async function readJson(file) {
  return JSON.parse(await readFile(file, 'utf8'));
}

/**
 * Returns the time at which all packages of the release were published, in
 * milliseconds.
 */
async function releaseEnd() {
  const version = await versionOf(RELEASED);
  return Date.parse((await timesOf(RELEASED))[version]) + RELEASE_MS;
}

async function carryOut(step) {
  const { action, operand, text } = step;
  switch (action) {
    case 'run':
      printed = await bash(forSite(text), forSite(operand) || portal);
      if (text.includes('directory-doctor')) {
        console.log(printed);
      } else if (text.includes('--no-overwrite-dir')) {
        await checkModes(server);
      }
      break;
    case 'start':
      await start(forSite(text), forSite(operand));
      break;
    case 'output':
      assert.match(printed, patternOf(forSite(text)));
      break;
    case 'write':
      await writeFile(join(portal, operand), forSite(text));
      break;
    case 'merge':
      await change(operand, before => mergeText(before, forSite(text)));
      break;
    case 'edit':
      await change(operand, before => applyDiff(before, forSite(text)));
      break;
    case 'check unit':
      await checkUnit(text);
      break;
    default: // sign in
      await inBrowser(signIn);
  }
}

/** Requires one version of each package whose versions do not share state. */
async function checkSingle() {
  const lock = await readFile(join(portal, 'yarn.lock'), 'utf8');
  for (const name of SINGLE) {
    const versions = lock.match(
      new RegExp(`^  resolution: "${name}@npm:.+`, 'gm'),
    );
    assert.equal(versions?.length, 1, `${versions}`);
  }
}

/** Requires that every user can read a folder. */
async function checkModes(folder) {
  const unreadable = await bash(
    `find . ! -type l \\( ! -perm -o=r -o -type d ! -perm -o=x \\)`,
    folder,
  );
  assert.equal(unreadable, '', 'files are unreadable for the user portal');
}

/** Returns a pattern for an output, in which `…` is any text. */
function patternOf(output) {
  const parts = output
    .trim()
    .split('…')
    .map(part => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^]*')}\\s*$`);
}

async function change(file, edit) {
  const path = join(portal, file);
  await writeFile(path, edit(await readFile(path, 'utf8')));
}

/** Runs commands and returns their output. */
async function bash(commands, cwd) {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', commands], {
    cwd,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let all = '';
  child.stdout.setEncoding('utf8').on('data', chunk => {
    output += chunk;
    all += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', chunk => {
    all += chunk;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) {
    throw new Error(`${all.slice(-4000)}\nExit status ${code}`);
  }
  return output;
}

/** Starts a command in a process group and waits until the portal is ready. */
async function start(command, cwd) {
  const child = spawn('bash', ['-c', `exec env ${command}`], {
    cwd,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  processes.push(child);
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', chunk => {
      log += chunk;
    });
  }
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (Date.now() < deadline && child.exitCode === null) {
    const readiness = `http://127.0.0.1:${port}/.backstage/health/v1/readiness`;
    const response = await fetch(readiness).catch(() => undefined);
    if (response?.ok) {
      return;
    }
    await delay(500);
  }
  throw new Error(`The portal is not ready:\n${log.slice(-6000)}`);
}

async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) {
    return;
  }
  const exit = once(child, 'exit');
  process.kill(-child.pid, 'SIGTERM');
  const timer = setTimeout(
    () => process.kill(-child.pid, 'SIGKILL'),
    STOP_TIMEOUT_MS,
  );
  await exit;
  clearTimeout(timer);
}

/** Lets systemd verify the unit, with programs that exist on this machine. */
async function checkUnit(unit) {
  const path = join(work, 'portal.service');
  await writeFile(
    path,
    unit
      .replace('/usr/bin/node', process.execPath)
      .replace('User=portal', 'User=root')
      .replace('/opt/portal', server),
  );
  await bash(
    `if command -v systemd-analyze; then systemd-analyze verify '${path}'; fi`,
    work,
  );
}

/** Opens the portal with alice's ticket. */
async function signIn({ page, expect }) {
  await page.goto(url);
  await expect(page.getByRole('link', { name: 'People' })).toBeVisible({
    timeout: 120_000,
  });
  await page.goto(`${url}/directory/people/alice`);
  await expect(page.getByText('alice@example.test').first()).toBeVisible({
    timeout: 120_000,
  });
}

/** Runs a check in a fresh profile of Chromium. */
async function inBrowser(check) {
  const require = createRequire(join(root, 'packages/app/package.json'));
  const { chromium, expect } = require('@playwright/test');
  const { source: axe } = require('axe-core');
  const profile = join(work, 'profile');
  await rm(profile, { recursive: true, force: true });
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    // Chromium's sandbox does not work for root.
    chromiumSandbox: process.getuid() !== 0,
    args: ['--disable-quic', '--auth-server-allowlist=localhost'],
    env: environment,
  });
  try {
    await check({ page: browser.pages()[0], expect, axe });
  } finally {
    await browser.close();
  }
}
