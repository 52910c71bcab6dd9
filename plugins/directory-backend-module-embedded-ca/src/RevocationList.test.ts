import { randomUUID } from 'node:crypto';
import {
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { basename } from 'node:path';
import { writePem } from '@directory-gateway/x509';
import {
  openssl,
  runProgram,
  TestCa,
  type TestNode,
} from './__testUtils__/TestCa';
import { CaIssuer } from './CaIssuer';
import { AUTHORITIES } from './RecordedIssuers';

// OpenSSL generates keys, which takes seconds on a busy machine.
jest.setTimeout(120_000);

const DAY_MS = 24 * 60 * 60 * 1000;
const ADMIN = 'user:default/admin';

describe('RevocationList', () => {
  let ca: TestCa;

  beforeEach(async () => {
    ca = await TestCa.start();
  });

  afterEach(async () => {
    await ca.stop();
  });

  const revoke = async (node: TestNode, serialNumber: bigint) =>
    await node.authority.revoke({
      serialNumber,
      reason: 'superseded',
      revokedBy: ADMIN,
    });
  const hold = async (node: TestNode, serialNumber: bigint) =>
    await node.authority.hold(serialNumber);
  const release = async (node: TestNode, serialNumber: bigint) =>
    await node.authority.release(serialNumber);
  const numbersIn = async (node: TestNode) =>
    (await ca.readCrl(node)).entries.map(({ serialNumber }) => serialNumber);

  it('signs an empty CRL at first, and the next one after half of its validity', async () => {
    const node = await ca.open();
    const { name } = await ca.issuer();
    await expect(node.read('crl', name)).rejects.toMatchObject({
      name: 'AuthorityUnavailableError',
    });
    const start = Date.now();
    await node.maintain();
    const first = await ca.readCrl(node);
    expect(first.entries).toEqual([]);
    expect(first.number).toBeGreaterThanOrEqual(start);
    expect(first.number).toBeLessThanOrEqual(Date.now());
    ca.clockAheadMs = 3.4 * DAY_MS;
    await node.maintain();
    expect(await ca.readCrl(node)).toEqual(first);
    ca.clockAheadMs = 3.6 * DAY_MS;
    await node.maintain();
    const second = await ca.readCrl(node);
    expect(second.number).toBeGreaterThan(first.number + 3 * DAY_MS);
  });

  it('lists a revocation at once, and keeps the first one', async () => {
    const node = await ca.open();
    const { serialNumber } = await ca.issue(node);
    const revocation = await revoke(node, serialNumber);
    expect(revocation).toMatchObject({ reason: 4 });
    const first = await ca.readCrl(node);
    expect(first.entries).toEqual([
      { serialNumber: String(serialNumber), reason: 'Superseded' },
    ]);
    ca.clockAheadMs = 60_000;
    expect(await revoke(node, serialNumber)).toEqual(revocation);
    expect(await hold(node, serialNumber)).toEqual(revocation);
    expect(await release(node, serialNumber)).toEqual(revocation);
    expect(await ca.readCrl(node)).toEqual(first);
  });

  it('lists a hold until its release, and a revocation in its place', async () => {
    const node = await ca.open();
    const { serialNumber } = await ca.issue(node);
    const held = await hold(node, serialNumber);
    expect((await ca.readCrl(node)).entries).toEqual([
      { serialNumber: String(serialNumber), reason: 'Certificate Hold' },
    ]);
    expect(await release(node, serialNumber)).toBeUndefined();
    expect(await numbersIn(node)).toEqual([]);
    await hold(node, serialNumber);
    ca.clockAheadMs = DAY_MS;
    expect(await revoke(node, serialNumber)).toMatchObject({ reason: 4 });
    expect(held?.reason).toBe(6);
    expect((await ca.readCrl(node)).entries).toEqual([
      { serialNumber: String(serialNumber), reason: 'Superseded' },
    ]);
  });

  it('ignores serial numbers that are not on record', async () => {
    const node = await ca.open();
    expect(await revoke(node, 42n)).toBeUndefined();
    expect(await hold(node, 42n)).toBeUndefined();
    expect(await release(node, 42n)).toBeUndefined();
    await node.maintain();
    expect(await numbersIn(node)).toEqual([]);
  });

  it('omits an expired certificate from the second CRL after its expiry', async () => {
    const node = await ca.open({
      profiles: [{ name: 'userCerts', validity: { hours: 1 } }],
    });
    const { serialNumber } = await ca.issue(node);
    await revoke(node, serialNumber);
    ca.clockAheadMs = 4 * DAY_MS;
    await node.maintain();
    expect(await numbersIn(node)).toEqual([String(serialNumber)]);
    ca.clockAheadMs = 8 * DAY_MS;
    await node.maintain();
    expect(await numbersIn(node)).toEqual([]);
  });

  it('raises the number of each CRL, also when the clock goes back', async () => {
    const node = await ca.open();
    const numbers: number[] = [];
    for (const aheadMs of [0, 0, -DAY_MS, -DAY_MS, 0]) {
      ca.clockAheadMs = aheadMs;
      const { serialNumber } = await ca.issue(await ca.open());
      await revoke(node, serialNumber);
      numbers.push((await ca.readCrl(node)).number);
    }
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  });

  it('lists a revocation of a process that ended before it signed the CRL', async () => {
    const node = await ca.open();
    const { serialNumber } = await ca.issue(node);
    await node.maintain();
    await ca.records.set(serialNumber, '', {
      reason: 1,
      revokedAt: new Date(),
    });
    const next = await ca.open();
    await next.maintain();
    expect(await numbersIn(next)).toEqual([String(serialNumber)]);
    await ca.records.set(serialNumber, '', undefined);
  });

  it('gives each CRL of concurrent processes another number, and loses no change', async () => {
    const nodes = await Promise.all([1, 2, 3].map(() => ca.open()));
    const revoked: string[] = [];
    const published = new Set<number>();
    await Promise.all(
      nodes.flatMap(node =>
        [1, 2, 3, 4].map(async () => {
          const { serialNumber } = await ca.issue(node);
          await revoke(node, serialNumber);
          revoked.push(String(serialNumber));
          published.add((await ca.readCrl(node)).number);
        }),
      ),
    );
    const bySize = (a: string, b: string) => (BigInt(a) < BigInt(b) ? -1 : 1);
    for (const node of nodes) {
      expect(await numbersIn(node)).toEqual(revoked.sort(bySize));
    }
    const { number } = await ca.readCrl(nodes[0]);
    expect(Math.max(...published)).toBe(number);
    for (const node of nodes) {
      await node.maintain();
    }
    expect((await ca.readCrl(nodes[1])).number).toBe(number);
    expect(ca.logger.lines).toEqual([]);
  });

  describe('with a restored database', () => {
    /** Returns a function that restores the database as it is now. */
    const backUp = async () => {
      const restoreRecords = ca.records.backUp();
      const rows = await ca.knex(AUTHORITIES);
      return async () => {
        restoreRecords();
        await ca.knex(AUTHORITIES).delete();
        await ca.knex(AUTHORITIES).insert(rows);
      };
    };

    it.each(['restarted', 'running'])(
      'neither makes a revoked certificate valid nor lets numbers go back in a %s portal',
      async state => {
        const node = await ca.open();
        const first = await ca.issue(node);
        const held = await ca.issue(node);
        await revoke(node, first.serialNumber);
        const restore = await backUp();
        const before = await ca.issue(node);
        const unknown = await ca.issue(node);
        await revoke(node, before.serialNumber);
        await revoke(node, unknown.serialNumber);
        await hold(node, held.serialNumber);
        const { number, entries } = await ca.readCrl(node);
        expect(entries).toHaveLength(4);
        await restore();

        // Even if the clock is behind.
        ca.clockAheadMs = -DAY_MS;
        const next = state === 'running' ? node : await ca.open();
        const { name } = await ca.issuer();
        // The CRL on record is older than the saved one.
        await expect(next.read('crl', name)).rejects.toMatchObject({
          name: 'AuthorityUnavailableError',
        });
        await next.maintain();
        const restored = await ca.readCrl(next);
        expect(restored.number).toBeGreaterThan(number);
        expect(restored.entries).toEqual(entries);
        expect(ca.logger.lines).toEqual([
          `warn The database did not have 3 revocations of the CRL in ${
            ca.files().keyFile
          }.crl: it was restored from a backup`,
        ]);
        await next.maintain();
        expect((await ca.readCrl(next)).number).toBe(restored.number);
      },
    );

    it('does not restore a hold that was released after the saved CRL', async () => {
      const node = await ca.open();
      const { serialNumber } = await ca.issue(node);
      await hold(node, serialNumber);
      // Released by a process that ended before it signed the CRL.
      await ca.records.set(serialNumber, '', undefined);
      const next = await ca.open();
      await next.maintain();
      expect(await numbersIn(next)).toEqual([]);
    });

    it('does not restore a released hold of any of several issuers', async () => {
      ca.create('intermediate', '--file-name', 'next');
      const issuers = [ca.files('next'), ca.files()];
      const old = await ca.open();
      const { serialNumber } = await ca.issue(old);
      await hold(old, serialNumber);
      // Released by a process that ended before it signed the CRL.
      await ca.records.set(serialNumber, '', undefined);
      const next = await ca.open({ issuers });
      await next.maintain();
      expect(await numbersIn(next)).toEqual([]);
      expect(ca.logger.lines).toEqual([]);
    });

    it('publishes nothing while the saved CRL is damaged', async () => {
      const node = await ca.open();
      await node.maintain();
      await writeFile(`${ca.files().keyFile}.crl`, 'damaged');
      const next = await ca.open();
      await next.maintain();
      const { name } = await ca.issuer();
      await expect(next.read('crl', name)).rejects.toMatchObject({
        name: 'AuthorityUnavailableError',
        message: expect.stringContaining('cannot be read'),
      });
    });
  });

  it('saves each CRL beside the key with mode 0600, and reports a failure', async () => {
    const node = await ca.open();
    await node.maintain();
    const path = `${ca.files().keyFile}.crl`;
    const { name } = await ca.issuer();
    expect(await readFile(path)).toEqual(await node.read('crl', name));
    expect((await stat(path)).mode % 0o1000).toBe(0o600);
    await rm(path);
    await mkdir(path);
    const { serialNumber } = await ca.issue(node);
    await revoke(node, serialNumber);
    expect(await numbersIn(node)).toEqual([String(serialNumber)]);
    expect(ca.logger.lines).toEqual([
      expect.stringMatching(/^error The CRL cannot be saved, and/),
    ]);
    await rm(path, { recursive: true });
    await node.maintain();
    expect(await readFile(path)).toEqual(await node.read('crl', name));
  });

  it('removes what a process that was killed has left beside the key', async () => {
    const path = `${ca.files().keyFile}.crl`;
    const [old, recent] = [
      `${path}.${randomUUID()}`,
      `${path}.${randomUUID()}`,
    ];
    // An administrator's copy.
    const copy = `${path}.2026`;
    for (const file of [old, recent, copy]) {
      await writeFile(file, 'partly');
    }
    await utimes(old, 0, 0);
    await utimes(copy, 0, 0);
    await (await ca.open()).maintain();
    const names = await readdir(ca.folder);
    expect(names).not.toContain(basename(old));
    expect(names).toContain(basename(recent));
    expect(names).toContain(basename(copy));
    expect(names).toContain(basename(path));
  });

  it('does not query the database for each unknown issuer', async () => {
    const node = await ca.open();
    await node.read('crl', 'first');
    let queries = 0;
    ca.knex.on('query', () => {
      queries += 1;
    });
    const unknown = Array.from({ length: 50 }, (_, n) => `issuer${n}`);
    for (const name of unknown) {
      expect(await node.read('crl', name)).toBeUndefined();
      expect(await node.read('certificate', name)).toBeUndefined();
    }
    // At most one query a second.
    expect(queries).toBeLessThan(50);
  });

  it('responds to concurrent requests for unknown issuers alike while the database fails', async () => {
    const node = await ca.open();
    await ca.knex.schema.renameTable(AUTHORITIES, 'moved');
    for (let attempt = 0; attempt < 2; attempt++) {
      const responses = await Promise.allSettled(
        ['first', 'second'].map(name => node.read('crl', name)),
      );
      expect(responses).toMatchObject([
        { reason: { name: 'AuthorityUnavailableError' } },
        { reason: { name: 'AuthorityUnavailableError' } },
      ]);
    }
    await ca.knex.schema.renameTable('moved', AUTHORITIES);
    expect(await node.read('crl', 'first')).toBeUndefined();
  });

  it('serves the certificate and the fixed CRL of an issuer without a key, and revokes nothing', async () => {
    const old = await ca.open();
    const { serialNumber } = await ca.issue(old);
    await old.maintain();
    const issuer = await ca.issuer();
    const crlFile = ca.path('last.crl');
    const crl = await old.read('crl', issuer.name);
    await writeFile(crlFile, writePem('X509 CRL', crl!));

    ca.create('intermediate', '--file-name', 'next');
    const node = await ca.open({
      issuers: [ca.files('next'), { chainFile: ca.files().chainFile, crlFile }],
    });
    await node.maintain();
    expect(await node.read('crl', issuer.name)).toEqual(crl);
    expect(await node.read('certificate', issuer.name)).toEqual(
      issuer.chain[0],
    );
    const refusal = { name: 'AuthorityRefusalError', kind: 'forbidden' };
    await expect(revoke(node, serialNumber)).rejects.toMatchObject(refusal);
    await expect(hold(node, serialNumber)).rejects.toMatchObject(refusal);
    await expect(release(node, serialNumber)).rejects.toMatchObject(refusal);
    expect(
      await ca.records.list(issuer.id, { notExpiredAt: new Date(0) }),
    ).toEqual([]);

    // An issuer that is not configured: its last CRL is on record.
    const without = await ca.open({ issuers: [ca.files('next')] });
    expect(await without.read('crl', issuer.name)).toEqual(crl);
    expect(await without.read('certificate', issuer.name)).toEqual(
      issuer.chain[0],
    );
    await expect(revoke(without, serialNumber)).rejects.toMatchObject(refusal);
    expect(await without.read('crl', '0'.repeat(16))).toBeUndefined();
    expect(await without.read('certificate', '')).toBeUndefined();
  });

  it('continues the CRL of 0.2 of the same key', async () => {
    const node = await ca.open();
    const { serialNumber } = await ca.issue(node);
    const issuer = await CaIssuer.read(ca.files());
    const dates = {
      thisUpdate: new Date(Date.now() - DAY_MS),
      nextUpdate: new Date(Date.now() + 6 * DAY_MS),
    };
    const number = 5n;
    const crl = await issuer.issuer!.signRevocationList({
      ...dates,
      number,
      revoked: [],
    });
    await ca.knex(AUTHORITIES).update({
      crl,
      crl_number: String(number),
      crl_this_update: dates.thisUpdate,
      crl_next_update: dates.nextUpdate,
    });
    await node.maintain();
    expect(await node.read('crl', issuer.name)).toEqual(crl);
    await revoke(node, serialNumber);
    const { number: next, entries } = await ca.readCrl(node);
    expect(next).toBeGreaterThan(Date.now() - DAY_MS);
    expect(entries).toEqual([
      { serialNumber: String(serialNumber), reason: 'Superseded' },
    ]);
  });

  it('refuses a certificate of another name for the same key', async () => {
    await ca.open();
    ca.create('intermediate', '--file-name', 'other');
    const { id } = await ca.issuer();
    const [other] = (await ca.issuer('other')).chain;
    await ca
      .knex(AUTHORITIES)
      .where({ id })
      .update({ chain: writePem('CERTIFICATE', other) });
    await expect(ca.open()).rejects.toThrow('differs from the one on record');
  });

  it('passes the checks of OpenSSL before, during and 200 days after a rollover', async () => {
    const now = Date.now();
    runProgram('root-crl', '--folder', ca.folder, '--days', '300');
    ca.create('intermediate', '--file-name', 'next');
    /** Verifies a certificate with the CRLs at the time of the portal. */
    const verify = async (
      der: Buffer,
      node: TestNode,
      names: readonly string[],
    ) => {
      const crls = await Promise.all(
        names.map(async name => {
          const issuer = await ca.issuer(name);
          return writePem('X509 CRL', (await node.read('crl', issuer.name))!);
        }),
      );
      const rootCrl = await readFile(ca.path('root-crl-1.pem'), 'utf8');
      await writeFile(ca.path('crls.pem'), crls.join('') + rootCrl);
      await writeFile(ca.path('leaf.pem'), writePem('CERTIFICATE', der));
      const chains = names.flatMap(name => [
        '-untrusted',
        ca.path(`${name}.pem`),
      ]);
      const time = Math.floor((now + ca.clockAheadMs) / 1000) + 1;
      const output = openssl([
        ...['verify', '-x509_strict', '-crl_check_all'],
        ...['-attime', String(time), '-CAfile', ca.path('root.pem')],
        ...['-CRLfile', ca.path('crls.pem'), ...chains, ca.path('leaf.pem')],
      ]);
      return /certificate revoked|expired|OK/.exec(output)?.[0] ?? output;
    };

    const before = await ca.open();
    const [kept, revoked] = [await ca.issue(before), await ca.issue(before)];
    await revoke(before, revoked.serialNumber);
    const old = ['intermediate'];
    expect(await verify(kept.certificate.der, before, old)).toBe('OK');
    expect(await verify(revoked.certificate.der, before, old)).toBe(
      'certificate revoked',
    );

    const both = ['next', 'intermediate'];
    const during = await ca.open({ issuers: both.map(name => ca.files(name)) });
    const later = await ca.issue(during);
    await revoke(during, kept.serialNumber);
    await during.maintain();
    expect(later.chain[1]).toEqual((await ca.issuer('next')).chain[0]);
    expect(await verify(later.certificate.der, during, both)).toBe('OK');
    for (const { certificate } of [kept, revoked]) {
      expect(await verify(certificate.der, during, both)).toBe(
        'certificate revoked',
      );
    }

    ca.clockAheadMs = 200 * DAY_MS;
    const after = await ca.open({ issuers: [ca.files('next')] });
    await after.maintain();
    const last = await ca.issue(after);
    expect(await verify(last.certificate.der, after, ['next'])).toBe('OK');
    expect(await verify(later.certificate.der, after, ['next'])).toBe(
      'expired',
    );
    await revoke(after, last.serialNumber);
    expect(await verify(last.certificate.der, after, ['next'])).toBe(
      'certificate revoked',
    );
  });
});
