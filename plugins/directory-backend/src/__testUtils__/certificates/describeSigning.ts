/* eslint-disable jest/no-export -- part of the suite of a file that has a site */
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../eventually';
import { form, multipart, resultOf, serialOf } from '../gateway/GatewayClient';
import { makeCsr } from './makeCsr';
import type { Site } from '../gateway/withGateway';

/** How certificate requests are answered, as tests. */
export function describeSigning(site: Site): void {
  describe('POST /certs/', () => {
    const csr = makeCsr({ subject: '/CN=alice' });

    it.each([
      ['a form', () => form({ user: 'alice', csr })],
      ['a multipart form', () => multipart({ user: 'alice', csr })],
      [
        'JSON',
        () => ({
          method: 'POST',
          body: JSON.stringify({ user: 'alice', csr }),
          headers: { 'Content-Type': 'application/json' },
        }),
      ],
    ])('signs what %s asks for oneself', async (_what, request) => {
      const answer = await site.client.ask('/v1/certs/', {
        as: 'alice',
        ...request(),
      });
      expect(answer.status).toBe(200);
      expect(resultOf(answer)).toMatchObject({
        subject: 'CN=alice,O=EXAMPLE.TEST',
        revoked: false,
      });
    });

    it.each([
      ['without a frame', 'multipart/form-data', '--frame--'],
      ['broken off', 'multipart/form-data; boundary=frame', '--frame\r\nCon'],
    ])('refuses a multipart form %s', async (_what, type, body) => {
      const answer = await site.client.ask('/v1/certs/', {
        as: 'alice',
        method: 'POST',
        body,
        headers: { 'Content-Type': type },
      });
      expect([answer.status, answer.json]).toMatchObject([
        400,
        { message: 'Input payload validation failed' },
      ]);
    });

    it('signs what the query asks for, and reads it back by its number', async () => {
      const query = new URLSearchParams({ user: 'alice', csr });
      const signed = await site.client.ask(`/v1/certs/?${query}`, {
        as: 'alice',
        method: 'POST',
      });
      const serial = serialOf(signed);
      const read = await site.client.ask(`/v1/certs/${serial}/`, { as: 'bob' });
      expect(serial.length).toBeGreaterThan(30);
      expect(read.text).toBe(signed.text);
    });

    it('answers with what OpenSSL reads in the same way, and verifies', async () => {
      const answer = await site.client.ask('/v1/certs/', {
        as: 'alice',
        ...form({ user: 'alice', csr }),
      });
      const signed = resultOf(answer);
      const [, root] = signed.certificate_chain as string[];
      const folder = await mkdtemp(join(tmpdir(), 'signed-'));
      try {
        const [leafFile, rootFile] = ['leaf', 'root'].map(name =>
          join(folder, `${name}.pem`),
        );
        await writeFile(leafFile, String(signed.certificate));
        await writeFile(
          rootFile,
          `-----BEGIN CERTIFICATE-----\n${root}\n-----END CERTIFICATE-----\n`,
        );
        const openssl = (...args: readonly string[]) =>
          execFileSync('openssl', args, { encoding: 'utf8' });
        const purpose = ['-purpose', 'sslclient'];
        expect(
          openssl('verify', ...purpose, '-CAfile', rootFile, leafFile),
        ).toContain(': OK');
        const facts = openssl(
          ...['x509', '-in', leafFile, '-noout', '-nameopt', 'RFC2253'],
          ...['-subject', '-issuer', '-serial', '-fingerprint', '-sha256'],
        );
        const serial = String(signed.serial_number_hex).replace('0x', '');
        const fingerprint = String(signed.sha256_fingerprint).toUpperCase();
        expect(facts).toContain(`subject=${signed.subject}\n`);
        expect(facts).toContain(`issuer=${signed.issuer}\n`);
        expect(facts).toMatch(new RegExp(`serial=0?${serial}\n`));
        expect(facts).toContain(fingerprint);
      } finally {
        await rm(folder, { recursive: true });
      }
    });

    it('gives the verdict rule by rule, without signing', async () => {
      const answer = await site.client.ask('/v1/certs/', {
        as: 'alice',
        ...form({
          user: 'alice',
          csr: makeCsr({ subject: '/CN=admin' }),
          dry_run: 'true',
        }),
      });
      expect(resultOf(answer)).toMatchObject({
        would_sign: false,
        rules: expect.arrayContaining([
          {
            rule: 'common_name',
            passed: false,
            message: expect.stringContaining('user name'),
          },
        ]),
      });
    });

    it('checks requester and profile only for a caller who may not sign', async () => {
      const answer = await site.client.ask('/v1/certs/', {
        as: 'bob',
        ...form({ user: 'alice', csr, dry_run: 'true' }),
      });
      const { would_sign: wouldSign, rules } = resultOf(answer);
      expect(wouldSign).toBe(false);
      const checked = (rules as { rule: string; passed: boolean | null }[])
        .filter(({ passed }) => passed !== null)
        .map(({ rule, passed }) => [rule, passed]);
      expect(checked).toEqual([
        ['requester', false],
        ['profile', true],
      ]);
    });

    it.each([
      ['for somebody else', 'bob', 'alice', {}, 403, 'requester'],
      ['for nobody', 'alice', 'nobody', {}, 400, 'principal'],
      [
        'for a locked user',
        'bot/builder.example.test',
        'carol',
        {},
        400,
        'principal',
      ],
      [
        'for an administrator',
        'bot/builder.example.test',
        'admin',
        {},
        403,
        'requester',
      ],
      [
        'of another profile',
        'alice',
        'alice',
        { profile: 'x' },
        400,
        'profile',
      ],
      ['that cannot be read', 'alice', 'alice', { csr: 'x' }, 400, 'request'],
    ])(
      'refuses a request %s',
      async (_what, as, user, changes, status, rule) => {
        const answer = await site.client.ask('/v1/certs/', {
          as,
          ...form({ user, csr, ...changes }),
        });
        expect([answer.status, answer.json]).toEqual([
          status,
          expect.objectContaining({ rule }),
        ]);
      },
    );

    it('lets a signer ask for others', async () => {
      const answer = await site.client.ask('/v1/certs/', {
        as: 'bot/builder.example.test',
        ...form({ user: 'bob', csr: makeCsr({ subject: '/CN=bob' }) }),
      });
      expect(resultOf(answer)).toMatchObject({ owner_user: ['bob'] });
    });

    it('adds what was signed to the certificates of its user', async () => {
      const signed = await site.client.ask('/v1/certs/', {
        as: 'bot/builder.example.test',
        ...form({ user: 'erin', csr: makeCsr({ subject: '/CN=erin' }) }),
      });
      const [der] = resultOf(signed).certificate_chain as string[];
      const user = await site.client.ask('/v1/users/erin/', { as: 'alice' });
      expect(resultOf(user).certificates).toContain(der);
    });

    it.each(['TRUE', '1', 'yes', ''])(
      'signs nothing when dry_run is "%s"',
      async text => {
        const attempts = () =>
          site.gateway.log().match(/certificate-sign/g)?.length;
        const before = attempts();
        const answer = await site.client.ask('/v1/certs/', {
          as: 'alice',
          ...form({ user: 'alice', csr, dry_run: text }),
        });
        expect([answer.status, answer.json, attempts()]).toEqual([
          400,
          expect.objectContaining({
            errors: { dry_run: 'Dry run. Must be true or false.' },
          }),
          before,
        ]);
      },
    );

    it('names what is missing or malformed', async () => {
      const answer = await site.client.ask('/v1/certs/', {
        as: 'alice',
        ...form({ user: 'alice', dry_run: 'no' }),
      });
      expect(answer.json).toMatchObject({
        message: 'Input payload validation failed',
        errors: {
          dry_run: expect.any(String),
          csr: 'Certificate Signing Request. Missing required parameter in the JSON body or the post body or the query string',
        },
      });
    });

    it('is 413 over 64 KiB, and 400 for what is no JSON', async () => {
      const large = await site.client.ask('/v1/certs/', {
        as: 'alice',
        ...form({ user: 'alice', csr: 'A'.repeat(70_000) }),
      });
      const broken = await site.client.ask('/v1/certs/', {
        as: 'alice',
        method: 'POST',
        body: '{"user":',
        headers: { 'Content-Type': 'application/json' },
      });
      expect([large.status, broken.status]).toEqual([413, 400]);
    });

    it.each([
      ['Origin', 'https://evil.example'],
      ['Origin', 'null'],
      ['Sec-Fetch-Site', 'cross-site'],
      ['Sec-Fetch-Site', 'same-site'],
    ])('refuses a page with %s: %s, on record', async (name, value) => {
      const failures = () =>
        site.gateway
          .log()
          .split('\n')
          .filter(line => /certificate-sign.*failed/.test(line));
      const before = failures().length;
      const request = form({ user: 'alice', csr });
      const answer = await site.client.ask('/v1/certs/', {
        as: 'alice',
        ...request,
        headers: { ...request.headers, [name]: value },
      });
      expect(answer.status).toBe(403);
      await eventually(() => expect(failures()).toHaveLength(before + 1));
      expect(failures().at(-1)).toContain('alice');
    });

    /** Asks in a form, in JSON and in the query; resolves with the statuses. */
    async function askThreeWays(parameters: {
      readonly user: string;
      readonly csr: string;
    }): Promise<readonly number[]> {
      const inForm = await site.client.ask('/v1/certs/', {
        as: 'alice',
        ...form(parameters),
      });
      const inJson = await site.client.ask('/v1/certs/', {
        as: 'alice',
        method: 'POST',
        body: JSON.stringify(parameters),
        headers: { 'Content-Type': 'application/json' },
      });
      const inQuery = await site.client.ask(
        `/v1/certs/?${new URLSearchParams(parameters)}`,
        { as: 'alice', method: 'POST' },
      );
      return [inForm.status, inJson.status, inQuery.status];
    }

    it('keeps the request out of every log, however it is sent', async () => {
      const challenge = 'MarkerMarkerMarker';
      const marked = makeCsr({ subject: '/CN=alice', challenge });
      const line = marked.split('\n')[2];
      const statuses = await askThreeWays({ user: 'alice', csr: marked });
      expect(statuses).toEqual([200, 200, 200]);
      const log = site.gateway.log();
      expect(log).toContain('certificate-sign');
      for (const secret of [challenge, line, encodeURIComponent(line)]) {
        expect(log).not.toContain(secret);
      }
    });

    it('refuses a private key, and keeps it out of every log', async () => {
      const { privateKey } = generateKeyPairSync('rsa', {
        modulusLength: 2048,
      });
      const key = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
      const line = key.split('\n')[2];
      const statuses = await askThreeWays({ user: 'alice', csr: csr + key });
      expect(statuses).toEqual([400, 400, 400]);
      expect(site.gateway.log()).not.toContain(line);
      expect(site.gateway.log()).not.toContain(encodeURIComponent(line));
    });

    it('is 429 with Retry-After when one caller asks too often', async () => {
      const ask = () =>
        site.client.ask('/v1/certs/', {
          as: 'dave',
          ...form({ user: 'dave', csr, dry_run: 'true' }),
        });
      let answer = await ask();
      for (let asked = 1; asked < 40 && answer.status !== 429; asked++) {
        answer = await ask();
      }
      expect(answer.status).toBe(429);
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    });
  });
}
