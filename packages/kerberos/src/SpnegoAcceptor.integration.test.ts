import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startOtherRealm, type OtherRealm } from '@directory-gateway/realm';
import fc from 'fast-check';
import { AcceptorFixture } from './__testUtils__/AcceptorFixture';
import type { AcceptorProcess } from './__testUtils__/AcceptorProcess';
import { negTokenInit } from './__testUtils__/negTokenInit';
import { shiftTicketClock } from './__testUtils__/shiftTicketClock';
import { GSS_FLAGS, TicketClient } from './__testUtils__/TicketClient';

const ALICE = 'alice@EXAMPLE.TEST';

/** Factor for the number of random cases; `make trials` runs more. */
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

  describe('with a valid ticket', () => {
    it('accepts the token, and the reply authenticates the server to the client', async () => {
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

    it('returns the principal of a user, a service or a host', async () => {
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

    it('accepts a token without SPNEGO and without mutual authentication', async () => {
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
      'accepts a long token with %i additional mechanisms',
      async count => {
        const token = negTokenInit({
          mechanisms: ['krb5', ...new Array<'negoex'>(count).fill('negoex')],
          token: await krb5Token(),
        });
        expect(token.length).toBeGreaterThan(46_000);
        expect(await acceptor.outcomeOf(token)).toBe('accepted');
      },
    );

    it('accepts a token only once when it is sent 20 times concurrently', async () => {
      const token = await fixture.token();
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, () => acceptor.outcomeOf(token)),
      );
      expect(outcomes.toSorted()).toEqual([
        'accepted',
        ...new Array<string>(19).fill('replayed'),
      ]);
    });
  });

  describe('with an unsuitable ticket', () => {
    afterEach(async () => {
      await fixture.installKeytab();
    });

    it('refuses a ticket for another service', async () => {
      const token = await fixture.token({ service: 'HTTP@other.example.test' });
      expect(await accept(token)).toEqual({
        outcome: 'refused',
        reason: 'unknown_service_key',
        message: expect.stringMatching(/^[A-Z][^@/]+\.$/),
      });
    });

    it('refuses a ticket for a service of this host other than HTTP', async () => {
      await fixture.installKeytab(await fixture.renamedKeytab('HTTP', 'ldap'));
      expect(await acceptor.outcomeOf(await fixture.token())).toBe(
        'unknown_service_key',
      );
    });

    it('refuses a ticket from a client whose clock is an hour ahead', async () => {
      const ticket = await fixture.realm.ticket('alice');
      const shifted = join(fixture.folder, 'skewed.ccache');
      // Gets the service ticket before the clocks differ.
      await fixture.token({ ticket });
      await shiftTicketClock({
        from: ticket.replace(/^FILE:/, ''),
        to: shifted,
        seconds: 3_600,
      });
      const token = await fixture.token({ ticket: `FILE:${shifted}` });
      expect(await acceptor.outcomeOf(token)).toBe('clock_skew');
    });

    it('refuses a ticket of a foreign realm, unless the realm is listed', async () => {
      // With the key of HTTP/localhost@ANOTHER.TEST, EXAMPLE.TEST is foreign.
      await fixture.installKeytab(
        await fixture.renamedKeytab('EXAMPLE.TEST', 'ANOTHER.TEST'),
      );
      expect(await acceptor.outcomeOf(await fixture.token())).toBe(
        'realm_refused',
      );
      const trusting = await fixture.startAcceptor({
        realms: ['EXAMPLE.TEST'],
      });
      expect(await trusting.outcomeOf(await fixture.token())).toBe('accepted');
    });
  });

  describe('with the keys of two realms in the keytab', () => {
    let other: OtherRealm;
    let foreign: () => Promise<string>;

    beforeAll(async () => {
      other = await startOtherRealm(fixture.realm);
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
      expect(await pinned.outcomeOf(await fixture.token())).toBe('accepted');
      expect(await pinned.outcomeOf(await foreign())).toBe('realm_refused');
    });

    it('refuses both realms while kerberos.realm is not set', async () => {
      const unpinned = await fixture.startAcceptor();
      expect(unpinned.log).toContainEqual(
        expect.stringMatching(
          /^warn .*EXAMPLE\.TEST, OTHER\.TEST.*kerberos\.realm/,
        ),
      );
      expect(await unpinned.outcomeOf(await fixture.token())).toBe(
        'realm_refused',
      );
      expect(await unpinned.outcomeOf(await foreign())).toBe('realm_refused');
    });

    it('returns the realm of users of a listed realm', async () => {
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

  describe('with a token that requires another round trip', () => {
    it.each(['spnego', 'krb5'] as const)(
      'refuses DCE style in %s',
      async mechanism => {
        const flags = GSS_FLAGS.mutual + GSS_FLAGS.dceStyle;
        const token = await fixture.token({ mechanism, flags });
        expect(await acceptor.outcomeOf(token)).toBe('continuation_required');
      },
    );

    it('refuses a token that prefers an unsupported mechanism to Kerberos', async () => {
      const ntlm = Buffer.from('NTLMSSP\0\x01\0\0\0', 'latin1');
      for (const token of [ntlm, await krb5Token()]) {
        expect(
          await acceptor.outcomeOf(
            negTokenInit({ mechanisms: ['ntlm', 'krb5'], token }),
          ),
        ).toBe('continuation_required');
      }
    });

    it('refuses a token that offers Kerberos but contains no ticket', async () => {
      expect(
        await acceptor.outcomeOf(negTokenInit({ mechanisms: ['krb5'] })),
      ).toBe('continuation_required');
    });
  });

  describe('with another token', () => {
    it.each([
      ['ntlm', 'ntlm_refused'],
      ['negoex', 'malformed_token'],
    ] as const)(
      'refuses a token that offers only %s',
      async (mechanism, reason) => {
        const token = negTokenInit({ mechanisms: [mechanism] });
        expect(await acceptor.outcomeOf(token)).toBe(reason);
      },
    );

    it.each([1, 64, 49_152, 65_536])(
      'refuses a token of %i random bytes',
      async length => {
        for (const token of [randomBytes(length), Buffer.alloc(length)]) {
          expect(await acceptor.outcomeOf(token)).toBe('malformed_token');
        }
      },
    );

    it('refuses a token above the maximum size', async () => {
      expect(await acceptor.outcomeOf(Buffer.alloc(65_537, 0x60))).toBe(
        'token_too_large',
      );
    });

    it('refuses a modified token, or accepts it once as its original principal', async () => {
      const originals = [
        await krb5Token(),
        Buffer.from(await fixture.token(), 'base64'),
      ];
      const change = fc.record({
        // Changes a byte of the structure, or any byte.
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
            // A token changed outside its signed part can still be valid, once.
            expect(['refused', ALICE]).toContain(
              result.outcome === 'accepted' ? result.principal : result.outcome,
            );
          },
        ),
        { numRuns: 100 * RUNS },
      );
      expect(await acceptor.outcomeOf(await fixture.token())).toBe('accepted');
    });
  });

  it('refuses any other header', async () => {
    for (const header of [undefined, [], '', 'Negotiate', ['a', 'b'], 'NTLM']) {
      expect(await acceptor.accept(header)).toMatchObject({
        outcome: 'refused',
        message: expect.stringMatching(/\.$/),
      });
    }
  });
});
