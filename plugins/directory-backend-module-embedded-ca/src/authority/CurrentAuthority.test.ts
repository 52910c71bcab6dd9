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

describe('CurrentAuthority with a generated CA', () => {
  let ca: TestCa;

  beforeEach(async () => {
    ca = await TestCa.start(sqlite);
  });

  afterEach(async () => {
    await ca.stop();
  });

  const authorities = () => ca.database.knex(AUTHORITIES);
  const namesBesideKey = () => readdir(dirname(ca.keyFile));
  describe('at first start', () => {
    it('generates a P-256 key that only its user can read', async () => {
      const { currentAuthority } = await ca.open();
      expect(currentAuthority.get().issuer.certificate).toMatchObject({
        ca: true,
        keyUsage: ['keyCertSign', 'cRLSign'],
        subject: 'CN=Certificate Authority,O=EXAMPLE.TEST',
      });
      const key = createPrivateKey(await readFile(ca.keyFile, 'utf8'));
      expect(key.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
      expect((await stat(ca.keyFile)).mode % 0o1000).toBe(0o600);
      expect((await stat(dirname(ca.keyFile))).mode % 0o1000).toBe(0o700);
      expect(await namesBesideKey()).toEqual(['ca-key.pem']);
    });

    it('writes the key neither to the database nor to the log', async () => {
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

    it('opens the same CA again', async () => {
      const first = await ca.open();
      const second = await ca.open();
      expect(second.currentAuthority.get().chain).toEqual(
        first.currentAuthority.get().chain,
      );
      expect(await authorities()).toHaveLength(1);
    });

    it('generates one CA in several instances at the same time', async () => {
      const nodes = await Promise.all(
        Array.from({ length: 8 }, () => ca.open()),
      );
      const ids = nodes.map(
        ({ currentAuthority }) => currentAuthority.get().id,
      );
      expect(new Set(ids).size).toBe(1);
      expect(await authorities()).toHaveLength(1);
      expect(await namesBesideKey()).toEqual(['ca-key.pem']);
    });

    it('uses the configured names and validity', async () => {
      const { authority, currentAuthority } = await ca.open({
        organization: 'Acme',
        root: { commonName: 'Acme people', validity: { days: 10 } },
        cacn: 'people',
      });
      const { certificate } = currentAuthority.get().issuer;
      expect(certificate.subject).toBe('CN=Acme people,O=Acme');
      expect(certificate.notAfter).toBeLessThan(Date.now() + 10 * DAY_MS);
      const issued = await authority.sign(aliceRequest());
      expect(issued.cacn).toBe('people');
    });

    it('encrypts the key with the passphrase', async () => {
      const passphraseFile = join(ca.folder, 'passphrase');
      await writeFile(passphraseFile, 'correct horse\n', { mode: 0o600 });
      const first = await ca.open({ passphraseFile });
      expect(await readFile(ca.keyFile, 'utf8')).toMatch(
        /^-----BEGIN ENCRYPTED PRIVATE KEY-----/,
      );
      const again = await ca.open({ passphraseFile });
      expect(again.currentAuthority.get().id).toBe(
        first.currentAuthority.get().id,
      );
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
    it('generates a new CA when the pending key has no record', async () => {
      await ca.open();
      const [{ id }] = await authorities();
      await rename(ca.keyFile, `${ca.keyFile}.${id}.new`);
      await authorities().delete();
      const { currentAuthority } = await ca.open();
      expect(currentAuthority.get().id).not.toBe(id);
      expect(await authorities()).toHaveLength(1);
      expect(await namesBesideKey()).toEqual(['ca-key.pem']);
    });

    it('promotes the pending key of a recorded CA', async () => {
      await ca.open();
      const [{ id }] = await authorities();
      await rename(ca.keyFile, `${ca.keyFile}.${id}.new`);
      const { authority, currentAuthority } = await ca.open();
      expect(currentAuthority.get().id).toBe(id);
      expect(await namesBesideKey()).toEqual(['ca-key.pem']);
      await expect(authority.sign(aliceRequest())).resolves.toBeDefined();
    });

    it('removes pending keys without a record, and no other file', async () => {
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

  describe('does not sign when', () => {
    it('the key is missing, until it is copied', async () => {
      const first = await ca.open();
      const issued = await first.authority.sign(aliceRequest());
      await rename(ca.keyFile, `${ca.keyFile}.away`);
      const node = await ca.open();
      expect(await ca.refusalOf(node)).toMatch(/does not exist.*copy its key/);
      const found = await node.authority.get(serialNumberOf(issued));
      expect(found).toEqual(issued);

      const lines = ca.logger.lines.length;
      await node.currentAuthority.open();
      expect(ca.logger.lines).toHaveLength(lines);
      await rename(`${ca.keyFile}.away`, ca.keyFile);
      await node.currentAuthority.open();
      await expect(node.authority.sign(aliceRequest())).resolves.toBeDefined();
      expect(await authorities()).toHaveLength(1);
    });

    it('the key is another one', async () => {
      await ca.open();
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      await writeFile(
        ca.keyFile,
        privateKey.export({ type: 'pkcs8', format: 'pem' }),
      );
      expect(await ca.refusalOf(await ca.open())).toMatch(/is the key of CA/);
      expect(await authorities()).toHaveLength(1);
    });

    it('the database has no record of the key', async () => {
      await ca.open();
      await authorities().delete();
      expect(await ca.refusalOf(await ca.open())).toMatch(
        /another database, or was lost/,
      );
      expect(await authorities()).toHaveLength(0);
    });

    it.each(['640', '604', '660', '606', '610', '601'])(
      'the key has mode %s',
      async mode => {
        await ca.open();
        await chmod(ca.keyFile, parseInt(mode, 8));
        expect(await ca.refusalOf(await ca.open())).toMatch(
          /accessible to other users/,
        );
      },
    );

    it('(but signs with a read-only key)', async () => {
      await ca.open();
      await chmod(ca.keyFile, 0o400);
      expect((await ca.open()).currentAuthority.isOpen).toBe(true);
    });

    it.each(['', 'not a key', '-----BEGIN PRIVATE KEY-----\nAAAA\n'])(
      'the key is invalid: %j',
      async text => {
        await ca.open();
        await writeFile(ca.keyFile, text);
        expect(await ca.refusalOf(await ca.open())).toMatch(
          /is not a private key/,
        );
      },
    );

    it('the key is a folder', async () => {
      await mkdir(ca.keyFile, { recursive: true, mode: 0o700 });
      expect(await ca.refusalOf(await ca.open())).toMatch(
        /has no record of a CA/,
      );
    });

    it('its own certificate has expired', async () => {
      const { authority, currentAuthority } = await ca.open({
        root: { validity: { days: 1 } },
      });
      const { certificate } = await authority.sign(aliceRequest());
      expect(new X509Certificate(certificate.der).validToDate.getTime()).toBe(
        currentAuthority.get().issuer.certificate.notAfter,
      );
      ca.clockAheadMs = 2 * DAY_MS;
      await expect(authority.sign(aliceRequest())).rejects.toMatchObject({
        name: 'AuthorityUnavailableError',
      });
    });
  });
});
