/* eslint-disable jest/no-export -- a suite for the tests of other packages */
import { createPublicKey, X509Certificate } from 'node:crypto';
import type { Certificate, RequestSignature } from '@directory-gateway/x509';
import type {
  CertificateAuthority,
  ExpiringQuery,
  IssuedCertificate,
  RevocableReason,
  SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  createSigningRequest,
  type SigningKeyType,
} from './createSigningRequest';

/** Maximum serial number of 20 octets (RFC 5280 §4.1.2.2). */
const MAX_SERIAL_NUMBER = (1n << 159n) - 1n;

/** Serial number that the CA under test has not issued. */
const UNKNOWN_SERIAL_NUMBER = 0xdeadbeefn;

/**
 * Maximum time by which the validity may start early, for clients whose clocks
 * are behind, in milliseconds.
 */
const CLOCK_ALLOWANCE_MS = 60 * 60 * 1000;

/** Types of the signatures of CSRs by the type of the key. */
const SIGNATURES = {
  p256: 'ec',
  rsa2048: 'rsa',
  ed25519: 'ed25519',
} as const satisfies Record<SigningKeyType, RequestSignature>;

const REVOKED_BY = 'user:default/admin';

/**
 * A CA under test and its environment.
 *
 * @public
 */
export interface CertificateAuthoritySubject {
  /** The CA. */
  readonly authority: CertificateAuthority;
  /**
   * A user to whom the CA issues certificates. The principal includes the
   * realm.
   */
  readonly user: { readonly username: string; readonly principal: string };
  /** A profile with which the CA signs all its types of keys for the user. */
  readonly profile: string;
  /** Name of the CA in API responses. */
  readonly cacn: string;
  /** Organization required in the subject of a CSR. Default: none. */
  readonly organization?: string;
  /**
   * Changes that make a valid request unacceptable, by reason. The CA must
   * refuse them. An unknown profile is always tested.
   */
  readonly refused?: readonly {
    readonly why: string;
    readonly change: Partial<SigningRequest>;
  }[];
  /**
   * Stops a dependency of the CA, such as its database, until the returned
   * function is called.
   */
  interrupt(): Promise<() => Promise<void>>;
  /** Revokes a certificate outside the gateway. Default: not tested. */
  revoke?(options: {
    readonly serialNumber: bigint;
    readonly reason: number;
  }): Promise<void>;
  /** Stops everything that `create` started. */
  stop(): Promise<void>;
}

/**
 * Defines the tests that every `CertificateAuthority` must pass, in a
 * `describe` block of a test runner with Jest's globals.
 *
 * @param options - `name`: title of the block; `create`: called once, before
 *   the first test.
 * @public
 */
export function describeCertificateAuthority(options: {
  readonly name: string;
  create(): Promise<CertificateAuthoritySubject>;
}): void {
  describe(`${options.name} as a certificate authority`, () => {
    let subject: CertificateAuthoritySubject;

    beforeAll(async () => {
      subject = await options.create();
    });

    afterAll(async () => {
      await subject?.stop();
    });

    const newRequest = (key?: SigningKeyType): SigningRequest =>
      createSigningRequest({
        ...subject.user,
        profile: subject.profile,
        organization: subject.organization,
        key,
      });

    it.each<SigningKeyType>(['p256', 'rsa2048', 'ed25519'])(
      'certifies the key of the request (%s)',
      async key => {
        const { requestSignatures } = subject.authority;
        if (requestSignatures?.has(SIGNATURES[key]) === false) {
          return; // The gateway refuses it.
        }
        const request = newRequest(key);
        const issued = await subject.authority.sign(request);
        const certificate = parse(issued);
        const requested = createPublicKey({
          key: request.publicKey,
          format: 'der',
          type: 'spki',
        });
        expect(certificate.publicKey.equals(requested)).toBe(true);
        expect(commonName(certificate)).toBe(request.username);
        expect(certificate.ca).toBe(false);
        expect(certificate.validToDate.getTime()).toBeGreaterThan(Date.now());
        expect(issued.cacn).toBe(subject.cacn);
        expect(issued.revocation).toBeUndefined();
      },
    );

    it('issues certificates as described by the profile, if it has profiles', async () => {
      const profile = subject.authority.profiles?.get(subject.profile);
      const certificate = parse(await subject.authority.sign(newRequest()));
      const { validFromDate, validToDate } = certificate;
      expect(validToDate.getTime() - validFromDate.getTime()).toBeLessThan(
        (profile?.validityMs ?? Infinity) + CLOCK_ALLOWANCE_MS,
      );
      expect(certificate.keyUsage?.length).toBe(
        (profile?.extendedKeyUsage ?? certificate.keyUsage)?.length,
      );
    });

    it('returns the chain, leaf first, each signed by the next', async () => {
      const issued = await subject.authority.sign(newRequest());
      const chain = issued.chain.map(der => new X509Certificate(der));
      expect(issued.chain[0]).toEqual(issued.certificate.der);
      expect(chain.length).toBeGreaterThan(1);
      for (const [index, issuer] of chain.slice(1).entries()) {
        expect(chain[index].checkIssued(issuer)).toBe(true);
        expect(chain[index].verify(issuer.publicKey)).toBe(true);
        expect(issuer.ca).toBe(true);
      }
    });

    it('returns an issued certificate by its serial number', async () => {
      const issued = await subject.authority.sign(newRequest());
      const found = await subject.authority.get(serialNumberOf(issued));
      expect(found?.certificate.der).toEqual(issued.certificate.der);
      expect(found?.chain).toEqual(issued.chain);
      expect(found?.cacn).toBe(subject.cacn);
      expect(found?.revocation).toBeUndefined();
      const { username } = subject.user;
      expect(found?.owners ?? [username]).toEqual([username]);
    });

    it('signs concurrent requests, each with its own serial number', async () => {
      const requests = Array.from({ length: 8 }, () => newRequest());
      const issued = await Promise.all(
        requests.map(request => subject.authority.sign(request)),
      );
      expect(new Set(issued.map(serialNumberOf)).size).toBe(requests.length);
      for (const [index, request] of requests.entries()) {
        const { publicKey } = parse(issued[index]);
        expect(publicKey.export({ type: 'spki', format: 'der' })).toEqual(
          request.publicKey,
        );
      }
    });

    it.each([
      0n,
      UNKNOWN_SERIAL_NUMBER,
      2n ** 64n + 1n,
      2n ** 127n - 1n,
      MAX_SERIAL_NUMBER,
    ])(
      'does not return a certificate for the unknown serial number %s',
      async serialNumber => {
        await expect(subject.authority.get(serialNumber)).resolves.toBe(
          undefined,
        );
      },
    );

    it('lists the profile that it signs with, if it has profiles', () => {
      const { profiles } = subject.authority;
      expect(profiles?.has(subject.profile)).not.toBe(false);
      expect(profiles?.has('noSuchProfile')).not.toBe(true);
    });

    it('refuses requests that it will never sign', async () => {
      const changes = [
        { why: 'an unknown profile', change: { profile: 'noSuchProfile' } },
        ...(subject.refused ?? []),
      ];
      for (const { why, change } of changes) {
        const outcome = await outcomeOf(
          subject.authority.sign({ ...newRequest(), ...change }),
        );
        expect({ why, outcome }).toEqual({
          why,
          outcome: 'AuthorityRefusalError',
        });
      }
    });

    it('returns a revocation with the certificate', async () => {
      const issued = await subject.authority.sign(newRequest());
      const serialNumber = serialNumberOf(issued);
      await subject.revoke?.({ serialNumber, reason: 4 });
      const found = await subject.authority.get(serialNumber);
      expect(found?.certificate.der).toEqual(issued.certificate.der);
      expect(found?.revocation?.reason).toEqual(subject.revoke && 4);
    });

    it('permanently revokes only its own certificates, if it can revoke', async () => {
      const { authority } = subject;
      const issued = await authority.sign(newRequest());
      const serialNumber = serialNumberOf(issued);
      const revoke = async (number: bigint, reason: RevocableReason) => {
        const request = { serialNumber: number, reason, revokedBy: REVOKED_BY };
        return (await authority.revoke?.(request))?.revocation?.reason;
      };
      const expected = authority.revoke && 1;
      expect(await revoke(serialNumber, 'keyCompromise')).toEqual(expected);
      expect(await revoke(serialNumber, 'superseded')).toEqual(expected);
      expect(await revoke(UNKNOWN_SERIAL_NUMBER, 'superseded')).toBeUndefined();
      const found = await authority.get(serialNumber);
      expect(found?.certificate.der).toEqual(issued.certificate.der);
      expect(found?.revocation?.reason).toEqual(expected);
    });

    it('permanently revokes a certificate that was put on hold outside the gateway', async () => {
      const { authority } = subject;
      const serialNumber = serialNumberOf(await authority.sign(newRequest()));
      await subject.revoke?.({ serialNumber, reason: 6 });
      await authority.revoke?.({
        serialNumber,
        reason: 'superseded',
        revokedBy: REVOKED_BY,
      });
      const found = await authority.get(serialNumber);
      expect(found?.revocation?.reason).toBe(
        authority.revoke ? 4 : subject.revoke && 6,
      );
    });

    it('suspends certificates until they are released or revoked, if it supports holds', async () => {
      const { authority, user } = subject;
      const serialNumber = serialNumberOf(await authority.sign(newRequest()));
      const reasonAfter = async (
        change: (
          certificate: bigint,
        ) => Promise<IssuedCertificate | undefined> | undefined,
      ) => (await change(serialNumber))?.revocation?.reason;
      const hold = (number: bigint) =>
        authority.hold?.({ serialNumber: number, heldBy: REVOKED_BY });
      const release = (number: bigint) =>
        authority.release?.({ serialNumber: number, releasedBy: REVOKED_BY });
      const revoke = (number: bigint) =>
        authority.revoke?.({
          serialNumber: number,
          reason: 'superseded',
          revokedBy: REVOKED_BY,
        });
      const isUsable = async () => {
        const usernames = [user.username];
        const listed = await authority.listByUsers?.({
          usernames,
          which: 'usable',
        });
        return listed
          ?.get(user.username)
          ?.some(issued => serialNumberOf(issued) === serialNumber);
      };
      const onHold = authority.hold && 6;
      const revoked = authority.hold && authority.revoke && 4;

      expect(authority.release === undefined).toBe(
        authority.hold === undefined,
      );
      expect(await release(UNKNOWN_SERIAL_NUMBER)).toBeUndefined();
      expect(await hold(UNKNOWN_SERIAL_NUMBER)).toBeUndefined();
      expect(await reasonAfter(release)).toBeUndefined();
      expect(await reasonAfter(hold)).toBe(onHold);
      expect(await reasonAfter(hold)).toBe(onHold);
      expect(authority.hold && (await isUsable())).not.toBe(true);
      const held = await authority.get(serialNumber);
      expect(held?.revocation?.reason).toBe(onHold);

      expect(await reasonAfter(release)).toBeUndefined();
      expect(await isUsable()).not.toBe(false);

      await hold(serialNumber);
      expect(authority.hold && (await reasonAfter(revoke))).toBe(revoked);
      expect(await reasonAfter(release)).toBe(revoked);
      expect(await reasonAfter(hold)).toBe(revoked);
    });

    it('lists the certificates of users, unless the directory contains them', async () => {
      const { username } = subject.user;
      const issued = await subject.authority.sign(newRequest());
      const isIssued = ({ certificate }: IssuedCertificate) =>
        certificate.der.equals(issued.certificate.der);
      const list = (
        which: 'usable' | 'all',
        usernames = ['nobody', username],
      ) => subject.authority.listByUsers?.({ usernames, which });
      const includesIssued = (listed: Awaited<ReturnType<typeof list>>) =>
        !listed ||
        (listed.get(username)!.some(isIssued) === true &&
          (listed.get('nobody') ?? []).length === 0);
      expect(includesIssued(await list('usable'))).toBe(true);
      expect(includesIssued(await list('all'))).toBe(true);
      expect((await list('all', []))?.size ?? 0).toBe(0);

      const serialNumber = serialNumberOf(issued);
      await subject.revoke?.({ serialNumber, reason: 4 });
      const usable = (await list('usable'))?.get(username) ?? [];
      expect(subject.revoke && usable.some(isIssued)).not.toBe(true);
      expect(includesIssued(await list('all'))).toBe(true);
    });

    it('lists certificates that expire in an interval, if it can find them', async () => {
      const { authority, user } = subject;
      const issued = await authority.sign(newRequest());
      const serialNumber = serialNumberOf(issued);
      const { validFromDate, validToDate } = parse(issued);
      // Copied because Node's dates belong to a different JavaScript realm than
      // those of Jest's sandbox.
      const [notBefore, notAfter] = [validFromDate, validToDate].map(
        date => new Date(date.getTime()),
      );
      const later = new Date(notAfter.getTime() + 1000);
      const find = async (query: Partial<ExpiringQuery> = {}) => {
        const found = await authority.listExpiring?.({
          from: notAfter,
          before: later,
          ...query,
        });
        return found
          ?.filter(expiring => expiring.serialNumber === serialNumber)
          .map(expiring => ({
            username: expiring.username,
            notBefore: expiring.notBefore,
            notAfter: expiring.notAfter,
          }));
      };
      const { username } = user;
      const itself = authority.listExpiring && [
        { username, notBefore, notAfter },
      ];
      const nothing = authority.listExpiring && [];

      expect(await find()).toEqual(itself);
      expect(await find({ before: undefined, username })).toEqual(itself);
      expect(await find({ username: 'nobody' })).toEqual(nothing);
      expect(await find({ from: later, before: undefined })).toEqual(nothing);
      expect(await find({ from: notBefore, before: notAfter })).toEqual(
        nothing,
      );

      await subject.revoke?.({ serialNumber, reason: 4 });
      expect(subject.revoke && (await find())).toEqual(
        subject.revoke && nothing,
      );
    });

    it('reports a failure instead of an unknown serial number while it is not available', async () => {
      const { authority, user } = subject;
      const issued = await authority.sign(newRequest());
      const serialNumber = serialNumberOf(issued);
      const restore = await subject.interrupt();
      try {
        for (const read of [
          () => authority.get(serialNumber),
          () => authority.get(UNKNOWN_SERIAL_NUMBER),
        ]) {
          expect(await outcomeOf(read())).toBe('AuthorityUnavailableError');
        }
        for (const call of [
          () =>
            authority.listByUsers?.({
              usernames: [user.username],
              which: 'usable',
            }),
          () =>
            authority.revoke?.({
              serialNumber,
              reason: 'superseded',
              revokedBy: REVOKED_BY,
            }),
          () => authority.hold?.({ serialNumber, heldBy: REVOKED_BY }),
          () => authority.release?.({ serialNumber, releasedBy: REVOKED_BY }),
          () => authority.listExpiring?.({ from: new Date() }),
        ]) {
          expect([undefined, 'AuthorityUnavailableError']).toContain(
            await outcomeOf(call()),
          );
        }
        expect(['AuthorityUnavailableError', 'OutcomeUnknownError']).toContain(
          await outcomeOf(authority.sign(newRequest())),
        );
      } finally {
        await restore();
      }
      const found = await authority.get(serialNumber);
      expect(found?.certificate.der).toEqual(issued.certificate.der);
      await expect(authority.sign(newRequest())).resolves.toBeDefined();
    });
  });
}

/** Returns the value of a promise or the name of its error. */
async function outcomeOf(work: Promise<unknown> | undefined): Promise<unknown> {
  return await work?.catch(error => error.name);
}

function parse({ certificate }: { readonly certificate: Certificate }) {
  return new X509Certificate(certificate.der);
}

function serialNumberOf(issued: IssuedCertificate): bigint {
  return BigInt(`0x${parse(issued).serialNumber}`);
}

/**
 * Returns the most specific CN. Node lists the subject in DER order, one
 * attribute per line.
 */
function commonName({ subject }: X509Certificate): string | undefined {
  return subject
    .split('\n')
    .at(-1)
    ?.match(/^CN=(.*)$/)?.[1];
}
