import {
  createPrivateKey,
  generateKeyPairSync,
  X509Certificate,
} from 'node:crypto';
import {
  chmod,
  mkdir,
  readdir,
  readFile,
  rename,
  stat,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { serialNumberOf } from '../__testUtils__/certificateFacts';
import { aliceRequest } from '../__testUtils__/requests';
import { TestCa } from '../__testUtils__/TestCa';
import { sqlite } from '../__testUtils__/TestDatabase';
import { AUTHORITIES } from '../database/rows';

const DAY_MS = 24 * 60 * 60 * 1000;

describe('openAuthority', () => {
  let ca: TestCa;

  beforeEach(async () => {
    ca = await TestCa.start(sqlite);
  });

  afterEach(async () => {
    await ca.stop();
  });

  const authorities = () => ca.database.knex(AUTHORITIES);
  const namesBesideKey = () => readdir(dirname(ca.keyFile));
  describe('making one', () => {
    it('makes a P-256 key for its own user only, and nothing else', async () => {
      const { keeper } = await ca.open();
      expect(keeper.current.issuer.certificate).toMatchObject({
        ca: true,
        keyUsage: ['keyCertSign', 'cRLSign'],
        subject: 'CN=Certificate Authority,O=EXAMPLE.TEST',
        publicKey: { curve: 'P-256' },
      });
      expect((await stat(ca.keyFile)).mode % 0o1000).toBe(0o600);
      expect((await stat(dirname(ca.keyFile))).mode % 0o1000).toBe(0o700);
      expect(await namesBesideKey()).toEqual(['ca-key.pem']);
    });

    it('never has the key in the database or the log', async () => {
      await ca.open();
      const pem = await readFile(ca.keyFile, 'utf8');
      const der = createPrivateKey(pem).export({ type: 'sec1', format: 'der' });
      const scalar = der.subarray(7, 39);
      const database = await readFile(join(ca.folder, 'records.sqlite'));
      expect(database.includes(scalar)).toBe(false);
      expect(database.includes(pem.split('\n')[1])).toBe(false);
      expect(database.includes('PRIVATE')).toBe(false);
      expect(ca.logger.lines.join()).not.toContain(pem.split('\n')[1]);
    });

    it('opens the same one again', async () => {
      const first = await ca.open();
      const second = await ca.open();
      expect(second.keeper.current.chain).toEqual(first.keeper.current.chain);
      expect(await authorities()).toHaveLength(1);
    });

    it('makes one, whoever else does so at the same time', async () => {
      const nodes = await Promise.all(
        Array.from({ length: 8 }, () => ca.open()),
      );
      const ids = nodes.map(({ keeper }) => keeper.current.id);
      expect(new Set(ids).size).toBe(1);
      expect(await authorities()).toHaveLength(1);
      expect(await namesBesideKey()).toEqual(['ca-key.pem']);
    });

    it('says what the configuration says', async () => {
      const { authority, keeper } = await ca.open({
        organization: 'Acme',
        root: { commonName: 'Acme people', validity: { days: 10 } },
        cacn: 'people',
      });
      const { certificate } = keeper.current.issuer;
      expect(certificate.subject).toBe('CN=Acme people,O=Acme');
      expect(certificate.notAfter).toBeLessThan(Date.now() + 10 * DAY_MS);
      const issued = await authority.sign(aliceRequest());
      expect(issued.cacn).toBe('people');
    });

    it('encrypts the key when there is a passphrase', async () => {
      const passphraseFile = join(ca.folder, 'passphrase');
      await writeFile(passphraseFile, 'correct horse\n', { mode: 0o600 });
      const first = await ca.open({ passphraseFile });
      expect(await readFile(ca.keyFile, 'utf8')).toMatch(
        /^-----BEGIN ENCRYPTED PRIVATE KEY-----/,
      );
      const again = await ca.open({ passphraseFile });
      expect(again.keeper.current.id).toBe(first.keeper.current.id);
      await writeFile(passphraseFile, 'wrong horse\n');
      expect(await ca.refusalOf(await ca.open({ passphraseFile }))).toMatch(
        /passphrase/,
      );
      expect(ca.logger.lines.join()).not.toContain('horse');
      await writeFile(passphraseFile, '\n');
      expect(await ca.refusalOf(await ca.open({ passphraseFile }))).toMatch(
        /is empty/,
      );
      expect(await ca.refusalOf(await ca.open())).toMatch(/passphrase/);
    });
  });

  describe('after a crash', () => {
    it('makes a new one when the key was written and not recorded', async () => {
      await ca.open();
      const [{ id }] = await authorities();
      await rename(ca.keyFile, `${ca.keyFile}.${id}.new`);
      await authorities().delete();
      const { keeper } = await ca.open();
      expect(keeper.current.id).not.toBe(id);
      expect(await authorities()).toHaveLength(1);
      expect(await namesBesideKey()).toEqual(['ca-key.pem']);
    });

    it('finishes one that was recorded and has no key in its place', async () => {
      await ca.open();
      const [{ id }] = await authorities();
      await rename(ca.keyFile, `${ca.keyFile}.${id}.new`);
      const { authority, keeper } = await ca.open();
      expect(keeper.current.id).toBe(id);
      expect(await namesBesideKey()).toEqual(['ca-key.pem']);
      await expect(authority.sign(aliceRequest())).resolves.toBeDefined();
    });

    it('clears away keys of authorities that never came to be, and no other file', async () => {
      await ca.open();
      const stray = `ca-key.pem.${'0'.repeat(64)}.new`;
      for (const name of [stray, 'ca-key.pem.backup', 'other.new']) {
        await writeFile(join(dirname(ca.keyFile), name), '');
      }
      await ca.open();
      expect((await namesBesideKey()).sort()).toEqual([
        'ca-key.pem',
        'ca-key.pem.backup',
        'other.new',
      ]);
    });
  });

  describe('refusing to sign', () => {
    it('has no key, and signs once it is brought', async () => {
      const first = await ca.open();
      const issued = await first.authority.sign(aliceRequest());
      await rename(ca.keyFile, `${ca.keyFile}.away`);
      const node = await ca.open();
      expect(await ca.refusalOf(node)).toMatch(/is not there.*copy its key/);
      const found = await node.authority.get(serialNumberOf(issued));
      expect(found).toEqual(issued);

      const lines = ca.logger.lines.length;
      await node.keeper.open();
      expect(ca.logger.lines).toHaveLength(lines);
      await rename(`${ca.keyFile}.away`, ca.keyFile);
      await node.keeper.open();
      await expect(node.authority.sign(aliceRequest())).resolves.toBeDefined();
      expect(await authorities()).toHaveLength(1);
    });

    it('has another key', async () => {
      await ca.open();
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      await writeFile(
        ca.keyFile,
        privateKey.export({ type: 'pkcs8', format: 'pem' }),
      );
      expect(await ca.refusalOf(await ca.open())).toMatch(/it is another key/);
      expect(await authorities()).toHaveLength(1);
    });

    it('has a key, and a database that knows nothing', async () => {
      await ca.open();
      await authorities().delete();
      expect(await ca.refusalOf(await ca.open())).toMatch(
        /another database, or was lost/,
      );
      expect(await authorities()).toHaveLength(0);
    });

    it.each(['640', '604', '660', '606', '610', '601'])(
      'has a key with mode %s',
      async mode => {
        await ca.open();
        await chmod(ca.keyFile, parseInt(mode, 8));
        expect(await ca.refusalOf(await ca.open())).toMatch(
          /accessible to other users/,
        );
      },
    );

    it('takes a key that may only be read', async () => {
      await ca.open();
      await chmod(ca.keyFile, 0o400);
      expect((await ca.open()).keeper.isOpen).toBe(true);
    });

    it.each(['', 'not a key', '-----BEGIN PRIVATE KEY-----\nAAAA\n'])(
      'has a key that is none: %j',
      async text => {
        await ca.open();
        await writeFile(ca.keyFile, text);
        expect(await ca.refusalOf(await ca.open())).toMatch(
          /is not a private key/,
        );
      },
    );

    it('has a folder for a key', async () => {
      await mkdir(ca.keyFile, { recursive: true, mode: 0o700 });
      expect(await ca.refusalOf(await ca.open())).toMatch(/knows no authority/);
    });

    it('is past the end of its own certificate', async () => {
      const { authority, keeper } = await ca.open({
        root: { validity: { days: 1 } },
      });
      const { certificate } = await authority.sign(aliceRequest());
      expect(new X509Certificate(certificate).validToDate.getTime()).toBe(
        keeper.current.issuer.certificate.notAfter,
      );
      ca.clockAheadMs = 2 * DAY_MS;
      await expect(authority.sign(aliceRequest())).rejects.toMatchObject({
        name: 'AuthorityUnavailableError',
      });
    });
  });
});
