// Tests `make start` on a free port, the calls that it prints and that README.md
// and docs/getting-started.md show, and Ctrl-C.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from './free-port.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
// Inherited by all processes that `make start` starts, including daemons.
const marker = `STARTED_BY_TEST=${process.pid}-${Date.now()}`;

/**
 * Returns the environment of a new shell, without an outer make or another
 * realm.
 */
function freshEnvironment(port) {
  const kept = Object.entries(process.env).filter(
    ([name]) =>
      !/^(REALM|KRB5|KEYTAB|MAKE|MFLAGS|USERS|LDIF|SCHEMA|NODE_TEST)/.test(
        name,
      ),
  );
  const [name, value] = marker.split('=');
  return { ...Object.fromEntries(kept), [name]: value, PORT: `${port}` };
}

/** Returns other processes, including daemons, with the marker of this run. */
function startedProcesses() {
  return readdirSync('/proc').filter(pid => {
    try {
      return (
        /^\d+$/.test(pid) &&
        readFileSync(`/proc/${pid}/environ`, 'utf8').includes(marker)
      );
    } catch {
      return false; // The process has exited, or belongs to another user.
    }
  });
}

describe('make start', { timeout: 900_000 }, () => {
  let port;
  let portal;
  let output = '';
  let pasted;

  /** Runs commands in a shell with the environment of the first call. */
  async function bash(commands) {
    const { stdout } = await promisify(execFile)(
      'bash',
      ['-euc', `${pasted.setUp}\n${commands}`],
      { env: freshEnvironment(port) },
    );
    return stdout;
  }

  before(async () => {
    port = await freePort();
    portal = spawn('make', ['start'], {
      cwd: root,
      env: freshEnvironment(port),
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    await new Promise((resolve, reject) => {
      portal.stdout.setEncoding('utf8').on('data', chunk => {
        process.stdout.write(chunk);
        output += chunk;
        if (output.includes('Ctrl-C stops')) resolve();
      });
      portal.once('exit', code =>
        reject(new Error(`make start ended with code ${code}`)),
      );
    });
    const printed = output.match(/^ {2}(export|kinit|curl) .*$/gm) ?? [];
    assert.equal(printed.length, 3, 'make start printed its first call');
    const [environment, login, firstCall] = printed;
    pasted = { setUp: `${environment}\n${login}`, firstCall };
  });

  after(() => {
    // Remaining after a failed run; some processes may have exited.
    for (const pid of startedProcesses()) process.kill(Number(pid), 'SIGKILL');
  });

  it('prints a first call that returns the caller', async () => {
    const { result } = JSON.parse(await bash(pasted.firstCall));

    assert.equal(result.username, 'alice');
    assert.equal(result.service, null);
    assert.match(result.dn, /^uid=alice,cn=users,cn=accounts,/);
    assert.equal(
      result.uri,
      `http://localhost:${port}/api/directory/v1/users/alice/`,
    );
  });

  for (const page of ['README.md', 'docs/getting-started.md']) {
    it(`returns what ${page} shows`, async () => {
      const text = readFileSync(join(root, page), 'utf8').replaceAll(
        'localhost:7007',
        `localhost:${port}`,
      );
      const calls = [...text.matchAll(/^\$ (curl .*)\n(\{.*\})$/gm)];
      assert.ok(calls.length > 0);
      for (const [, call, shown] of calls) {
        assert.deepEqual(
          JSON.parse(await bash(call.replace('curl', 'curl --silent'))),
          JSON.parse(shown),
        );
      }
    });
  }

  it('returns a Negotiate challenge when a request has no credentials', async () => {
    const response = await fetch(
      `http://localhost:${port}/api/directory/v1/me/`,
    );

    assert.equal(response.status, 401);
    assert.equal(response.headers.get('www-authenticate'), 'Negotiate');
    assert.equal((await response.json()).reason, 'no_credentials');
  });

  it('serves the pages', async () => {
    const response = await fetch(`http://localhost:${port}/`);

    assert.equal(response.status, 200);
    assert.match(await response.text(), /<title>Directory gateway<\/title>/);
  });

  it('passes the checks of make doctor', async () => {
    const { stdout } = await promisify(execFile)(
      'make',
      ['--silent', 'doctor', 'JSON=1', 'TIMEOUT=120'],
      { cwd: root, env: freshEnvironment(port) },
    );
    const problems = JSON.parse(stdout).filter(
      ({ status }) => status === 'warn' || status === 'fail',
    );

    assert.deepEqual(
      problems.map(({ id, status }) => [id, status]),
      [
        ['permissions', 'warn'],
        ['database', 'warn'],
        ['embedded-ca', 'warn'],
      ],
    );
  });

  it('prints one line when its port is in use', async () => {
    const second = await promisify(execFile)('scripts/start', {
      cwd: root,
      env: freshEnvironment(port),
    }).then(
      () => assert.fail('a second portal started on the same port'),
      error => error,
    );

    assert.equal(second.code, 1);
    assert.match(second.stderr, /^Port \d+ is in use: .+\n$/);
  });

  it('removes processes and files after Ctrl-C', async () => {
    const realm = dirname(/KRB5_CONFIG=(\S+)/.exec(pasted.setUp)[1]);
    assert.ok(existsSync(realm));
    assert.notDeepEqual(startedProcesses(), []);

    // As a terminal does: to the foreground process group.
    process.kill(-portal.pid, 'SIGINT');
    if (portal.exitCode === null && portal.signalCode === null) {
      await once(portal, 'exit');
    }
    // A daemon may stop after its parent.
    for (let i = 0; i < 100 && startedProcesses().length > 0; i++) {
      await delay(100);
    }

    assert.deepEqual(startedProcesses(), []);
    assert.ok(!existsSync(realm), 'the folder of the realm is removed');
    await assert.rejects(fetch(`http://localhost:${port}/`));
  });
});
