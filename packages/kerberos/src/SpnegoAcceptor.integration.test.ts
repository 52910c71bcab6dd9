import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OtherRealm } from '@directory-gateway/realm';
import fc from 'fast-check';
import { AcceptorFixture } from './__testUtils__/AcceptorFixture';
import type { AcceptorProcess } from './__testUtils__/AcceptorProcess';
import { negTokenInit } from './__testUtils__/negTokenInit';
import { shiftTicketClock } from './__testUtils__/shiftTicketClock';
import { GSS_FLAGS, TicketClient } from './__testUtils__/TicketClient';

const ALICE = 'alice@EXAMPLE.TEST';

/** Multiple of the random cases; `make trials` has more. */
const RUNS = Number(process.env.RUNS || 1);

jest.setTimeout(600_000 * RUNS);

describe('SpnegoAcceptor', () => {
  let fixture: AcceptorFixture;
  let acceptor: AcceptorProcess;

  beforeAll(async () => {
    fixture = await AcceptorFixture.start();
    await fixture.installKeytab();
    acceptor = await fixture.startAcceptor();
  });

  afterAll(async () => {
    await fixture.stop();
  });

  const accept = (base64: string) => acceptor.accept(`Negotiate ${base64}`);
  const krb5Token = async () =>
    Buffer.from(await fixture.token({ mechanism: 'krb5' }), 'base64');

  describe('a good ticket', () => {
    it('is accepted, and the reply convinces the client', async () => {
      const client = await fixture.startClient();
      const result = await accept(client.token);
      expect(result).toEqual({
        outcome: 'accepted',
        principal: ALICE,
        replyToken: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/),
      });
      const { replyToken = '' } = result as { replyToken?: string };
      expect(await client.finish(replyToken)).toBe(true);
    });

    it('names its holder: a person, a service, a host', async () => {
      for (const name of [
        'bob',
        'bot/builder.example.test',
        'host/build1.example.test',
      ]) {
        const ticket = await fixture.realm.ticket(name);
        expect(await accept(await fixture.token({ ticket }))).toMatchObject({
          outcome: 'accepted',
          principal: `${name}@EXAMPLE.TEST`,
        });
      }
    });

    it('may come without SPNEGO around it, and without a wish for a reply', async () => {
      const token = await fixture.token({
        mechanism: 'krb5',
        flags: GSS_FLAGS.none,
      });
      expect(await accept(token)).toEqual({
        outcome: 'accepted',
        principal: ALICE,
      });
    });

    it.each([3_900, 5_300])(
      'may be long: %i further mechanisms offered',
      async count => {
        const token = negTokenInit({
          mechanisms: ['krb5', ...new Array<'negoex'>(count).fill('negoex')],
          token: await krb5Token(),
        });
        expect(token.length).toBeGreaterThan(46_000);
        expect(await acceptor.verdict(token)).toBe('accepted');
      },
    );

    it('is accepted once, however many send it at the same time', async () => {
      const token = await fixture.token();
      const verdicts = await Promise.all(
        Array.from({ length: 20 }, () => acceptor.verdict(token)),
      );
      expect(verdicts.toSorted()).toEqual([
        'accepted',
        ...new Array<string>(19).fill('replayed'),
      ]);
    });
  });

  describe('a ticket that will not do', () => {
    afterEach(async () => {
      await fixture.installKeytab();
    });

    it('is for another service', async () => {
      const token = await fixture.token({ service: 'HTTP@other.example.test' });
      expect(await accept(token)).toEqual({
        outcome: 'refused',
        reason: 'unknown_service_key',
        message: expect.stringMatching(/^[A-Z][^@/]+\.$/),
      });
    });

    it('is for a service of this host that is no web server', async () => {
      await fixture.installKeytab(await fixture.renamedKeytab('HTTP', 'ldap'));
      expect(await acceptor.verdict(await fixture.token())).toBe(
        'unknown_service_key',
      );
    });

    it('comes from a clock that is an hour ahead', async () => {
      const ticket = await fixture.realm.ticket('alice');
      const shifted = join(fixture.folder, 'skewed.ccache');
      // Fetches the service ticket while the KDC still agrees on the time.
      await fixture.token({ ticket });
      await shiftTicketClock({
        from: ticket.replace(/^FILE:/, ''),
        to: shifted,
        seconds: 3_600,
      });
      const token = await fixture.token({ ticket: `FILE:${shifted}` });
      expect(await acceptor.verdict(token)).toBe('clock_skew');
    });

    it('is of a foreign realm, unless that is listed', async () => {
      // The key of HTTP/localhost@ANOTHER.TEST, so that EXAMPLE.TEST is abroad.
      await fixture.installKeytab(
        await fixture.renamedKeytab('EXAMPLE.TEST', 'ANOTHER.TEST'),
      );
      expect(await acceptor.verdict(await fixture.token())).toBe(
        'realm_refused',
      );
      const trusting = await fixture.startAcceptor({
        realms: ['EXAMPLE.TEST'],
      });
      expect(await trusting.verdict(await fixture.token())).toBe('accepted');
    });
  });

  describe('a keytab with the keys of two realms', () => {
    let other: OtherRealm;
    let foreign: () => Promise<string>;

    beforeAll(async () => {
      other = await OtherRealm.start(fixture.realm);
      await fixture.installKeytab(await readFile(other.sharedKeytab));
      foreign = async () => {
        const { ticket, krb5Config } = other;
        const client = await TicketClient.start({ ticket, krb5Config });
        await client.stop();
        return client.token;
      };
    });

    afterAll(async () => {
      await other?.stop();
      await fixture.installKeytab();
    });

    it('accepts users of the realm that kerberos.realm names', async () => {
      const pinned = await fixture.startAcceptor({ realm: 'EXAMPLE.TEST' });
      expect(await pinned.verdict(await fixture.token())).toBe('accepted');
      expect(await pinned.verdict(await foreign())).toBe('realm_refused');
    });

    it('accepts nobody while kerberos.realm is not set', async () => {
      const unpinned = await fixture.startAcceptor();
      expect(unpinned.log).toContainEqual(
        expect.stringMatching(
          /^warn .*EXAMPLE\.TEST, OTHER\.TEST.*kerberos\.realm/,
        ),
      );
      expect(await unpinned.verdict(await fixture.token())).toBe(
        'realm_refused',
      );
      expect(await unpinned.verdict(await foreign())).toBe('realm_refused');
    });

    it('reports the realm of users of a listed realm', async () => {
      const trusting = await fixture.startAcceptor({
        realm: 'EXAMPLE.TEST',
        realms: ['OTHER.TEST'],
      });
      expect(
        await trusting.accept(`Negotiate ${await foreign()}`),
      ).toMatchObject({
        outcome: 'accepted',
        principal: 'alice@OTHER.TEST',
      });
    });
  });

  describe('a token that needs another leg', () => {
    it.each(['spnego', 'krb5'] as const)(
      'is of DCE style in %s',
      async mechanism => {
        const flags = GSS_FLAGS.mutual + GSS_FLAGS.dceStyle;
        const token = await fixture.token({ mechanism, flags });
        expect(await acceptor.verdict(token)).toBe('continuation_required');
      },
    );

    it('prefers a mechanism that is not served to the Kerberos it could have used', async () => {
      const ntlm = Buffer.from('NTLMSSP\0\x01\0\0\0', 'latin1');
      for (const token of [ntlm, await krb5Token()]) {
        expect(
          await acceptor.verdict(
            negTokenInit({ mechanisms: ['ntlm', 'krb5'], token }),
          ),
        ).toBe('continuation_required');
      }
    });

    it('offers Kerberos without a ticket', async () => {
      expect(
        await acceptor.verdict(negTokenInit({ mechanisms: ['krb5'] })),
      ).toBe('continuation_required');
    });
  });

  describe('a token that is none of ours', () => {
    it.each([
      ['ntlm', 'ntlm_refused'],
      ['negoex', 'malformed_token'],
    ] as const)('offers nothing but %s', async (mechanism, verdict) => {
      const token = negTokenInit({ mechanisms: [mechanism] });
      expect(await acceptor.verdict(token)).toBe(verdict);
    });

    it.each([1, 64, 49_152, 65_536])('is %i bytes of noise', async length => {
      for (const token of [randomBytes(length), Buffer.alloc(length)]) {
        expect(await acceptor.verdict(token)).toBe('malformed_token');
      }
    });

    it('is longer than a token may be', async () => {
      expect(await acceptor.verdict(Buffer.alloc(65_537, 0x60))).toBe(
        'token_too_large',
      );
    });

    it('was a real one before somebody tampered with it', async () => {
      const originals = [
        await krb5Token(),
        Buffer.from(await fixture.token(), 'base64'),
      ];
      const change = fc.record({
        // Where the structure is, or anywhere.
        at: fc.oneof(fc.nat(120), fc.nat(2_000)),
        byte: fc.nat(255),
      });
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...originals),
          fc.array(change, { minLength: 1, maxLength: 4 }),
          fc.option(fc.nat(2_000), { freq: 8 }),
          async (original, changes, cut) => {
            const token = Buffer.from(original);
            for (const { at, byte } of changes) {
              token[at % token.length] = byte;
            }
            const result = await accept(
              token.subarray(0, cut ?? undefined).toString('base64'),
            );
            // A change outside of what is signed can leave a token good, once, and always alice's.
            expect(['refused', ALICE]).toContain(
              result.outcome === 'accepted' ? result.principal : result.outcome,
            );
          },
        ),
        { numRuns: 2_000 * RUNS },
      );
      expect(await acceptor.verdict(await fixture.token())).toBe('accepted');
    });
  });

  it('answers whatever else it is given', async () => {
    for (const header of [undefined, [], '', 'Negotiate', ['a', 'b'], 'NTLM']) {
      expect(await acceptor.accept(header)).toMatchObject({
        outcome: 'refused',
        message: expect.stringMatching(/\.$/),
      });
    }
  });
});
