/* eslint-disable jest/no-export -- a suite for the tests of other packages */
import { createPublicKey, X509Certificate } from 'node:crypto';
import type { Certificate, RequestSignature } from '@directory-gateway/x509';
import type {
  CertificateAuthority,
  Revocation,
  RevocableReason,
  SignedCertificate,
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

/** Reason code of a certificate on hold (RFC 5280 §5.3.1). */
const ON_HOLD = 6;

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
   * Records a certificate as the gateway does. Required for a CA that reads the
   * gateway's records. Default: nothing.
   */
  record?(signed: SignedCertificate): Promise<void>;
  /**
   * Whether the CA knows which certificates it has issued, and the original
   * reason of a revocation. Default: true.
   */
  readonly hasRecords?: boolean;
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
    const sign = async (request = newRequest()): Promise<SignedCertificate> => {
      const signed = await subject.authority.sign(request);
      await subject.record?.(signed);
      return signed;
    };
    const revoke = (serialNumber: bigint, reason: RevocableReason) =>
      subject.authority.revoke?.({
        serialNumber,
        reason,
        revokedBy: REVOKED_BY,
      });

    it.each<SigningKeyType>(['p256', 'rsa2048', 'ed25519'])(
      'certifies the key of the request (%s)',
      async key => {
        const { keyTypes } = subject.authority;
        if (keyTypes?.has(SIGNATURES[key]) === false) {
          return; // The gateway refuses it.
        }
        const request = newRequest(key);
        const certificate = parse(await sign(request));
        const requested = createPublicKey({
          key: request.publicKey,
          format: 'der',
          type: 'spki',
        });
        expect(certificate.publicKey.equals(requested)).toBe(true);
        expect(commonName(certificate)).toBe(request.username);
        expect(certificate.ca).toBe(false);
        expect(certificate.validToDate.getTime()).toBeGreaterThan(Date.now());
      },
    );

    it('has the name that responses show', () => {
      expect(subject.authority.cacn).toBe(subject.cacn);
    });

    it('uses the serial number of the request, unless it chooses its own', async () => {
      const request = newRequest();
      const serialNumber = serialNumberOf(await sign(request));
      expect(serialNumber === request.serialNumber).toBe(
        !subject.authority.choosesSerialNumbers,
      );
      expect(serialNumber).toBeGreaterThan(0n);
      expect(serialNumber).toBeLessThanOrEqual(MAX_SERIAL_NUMBER);
    });

    it('issues certificates as described by the profile, if it has profiles', async () => {
      const profile = subject.authority.profiles?.get(subject.profile);
      const certificate = parse(await sign());
      const { validFromDate, validToDate } = certificate;
      expect(validToDate.getTime() - validFromDate.getTime()).toBeLessThan(
        (profile?.validityMs ?? Infinity) + CLOCK_ALLOWANCE_MS,
      );
      expect(certificate.keyUsage?.length).toBe(
        (profile?.extendedKeyUsage ?? certificate.keyUsage)?.length,
      );
    });

    it('returns the chain, leaf first, each signed by the next', async () => {
      const signed = await sign();
      const chain = signed.chain.map(der => new X509Certificate(der));
      expect(signed.chain[0]).toEqual(signed.certificate.der);
      expect(chain.length).toBeGreaterThan(1);
      for (const [index, issuer] of chain.slice(1).entries()) {
        expect(chain[index].checkIssued(issuer)).toBe(true);
        expect(chain[index].verify(issuer.publicKey)).toBe(true);
        expect(issuer.ca).toBe(true);
      }
    });

    it('signs concurrent requests, each with its own serial number', async () => {
      const requests = Array.from({ length: 8 }, () => newRequest());
      const signed = await Promise.all(requests.map(sign));
      expect(new Set(signed.map(serialNumberOf)).size).toBe(requests.length);
      for (const [index, request] of requests.entries()) {
        const { publicKey } = parse(signed[index]);
        expect(publicKey.export({ type: 'spki', format: 'der' })).toEqual(
          request.publicKey,
        );
      }
    });

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

    it('returns a certificate with its state, if it can look up certificates', async () => {
      const { authority } = subject;
      const signed = await sign();
      const serialNumber = serialNumberOf(signed);
      const find = async (reason: number | undefined) => {
        const found = await authority.get?.(serialNumber);
        const { username } = subject.user;
        expect({
          der: found?.certificate.der,
          chain: found?.chain,
          cacn: found?.cacn,
          owners: found?.owners ?? [username],
          reason: found?.revocation?.reason,
        }).toEqual({
          der: authority.get && signed.certificate.der,
          chain: authority.get && signed.chain,
          cacn: authority.get && subject.cacn,
          owners: [username],
          reason: authority.get && reason,
        });
      };
      await find(undefined);
      await subject.revoke?.({ serialNumber, reason: 4 });
      await find(subject.revoke && 4);
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
        expect(await subject.authority.get?.(serialNumber)).toBeUndefined();
      },
    );

    it('permanently revokes only its own certificates, if it can revoke', async () => {
      const { authority } = subject;
      const serialNumber = serialNumberOf(await sign());
      const expected = authority.revoke && 1;
      for (const reason of ['keyCompromise', 'superseded'] as const) {
        const revoked = await revoke(serialNumber, reason);
        expect(revoked === undefined).toBe(authority.revoke === undefined);
        if (subject.hasRecords === false) {
          continue; // The gateway's record keeps the original reason.
        }
        expect(revoked?.reason).toBe(expected);
        const found = await authority.get?.(serialNumber);
        expect(found?.revocation?.reason).toBe(authority.get && expected);
      }
      const unknown = await revoke(UNKNOWN_SERIAL_NUMBER, 'superseded');
      expect(unknown?.reason).toBe(
        subject.hasRecords === false ? 4 : undefined,
      );
    });

    it('permanently revokes a certificate that was put on hold outside the gateway', async () => {
      const { authority } = subject;
      const serialNumber = serialNumberOf(await sign());
      await subject.revoke?.({ serialNumber, reason: ON_HOLD });
      const revoked = await revoke(serialNumber, 'superseded');
      expect(revoked?.reason).toBe(authority.revoke && 4);
    });

    it('suspends certificates until they are released or revoked, if it supports holds', async () => {
      const { authority } = subject;
      const serialNumber = serialNumberOf(await sign());
      const hold = (number = serialNumber) => authority.hold?.(number);
      const release = (number = serialNumber) => authority.release?.(number);
      const reasonOf = async (change: Promise<Revocation | undefined>) => {
        const state = await change;
        const found = await authority.get?.(serialNumber);
        expect(authority.get && found?.revocation?.reason).toBe(
          authority.get && state?.reason,
        );
        return state?.reason;
      };

      expect(authority.release === undefined).toBe(
        authority.hold === undefined,
      );
      if (!authority.hold) {
        return; // Pages and responses show that the CA has no holds.
      }
      expect(await release(UNKNOWN_SERIAL_NUMBER)).toBeUndefined();
      expect(await hold(UNKNOWN_SERIAL_NUMBER)).toBeUndefined();
      expect(await reasonOf(release()!)).toBeUndefined();
      expect(await reasonOf(hold()!)).toBe(ON_HOLD);
      expect(await reasonOf(hold()!)).toBe(ON_HOLD);
      expect(await reasonOf(release()!)).toBeUndefined();
      await hold();
      const revoked = await revoke(serialNumber, 'superseded');
      expect(revoked?.reason).toBe(authority.revoke && 4);
      const expected = authority.revoke ? 4 : undefined;
      expect(await reasonOf(release()!)).toBe(expected);
      expect(await reasonOf(hold()!)).toBe(expected ?? ON_HOLD);
    });

    it('reports a failure instead of an unknown serial number while it is not available', async () => {
      const { authority } = subject;
      const signed = await sign();
      const serialNumber = serialNumberOf(signed);
      const restore = await subject.interrupt();
      try {
        for (const call of [
          () => authority.get?.(serialNumber),
          () => authority.get?.(UNKNOWN_SERIAL_NUMBER),
          () => revoke(serialNumber, 'superseded'),
          () => authority.hold?.(serialNumber),
          () => authority.release?.(serialNumber),
        ]) {
          const work = call();
          expect(await outcomeOf(work)).toBe(
            work && 'AuthorityUnavailableError',
          );
        }
        // A CA that has its key in memory still signs.
        const outcome = await outcomeOf(authority.sign(newRequest()));
        expect([
          'AuthorityUnavailableError',
          'OutcomeUnknownError',
          'object',
        ]).toContain(typeof outcome === 'string' ? outcome : typeof outcome);
      } finally {
        await restore();
      }
      const found = await authority.get?.(serialNumber);
      expect(found?.certificate.der).toEqual(
        authority.get && signed.certificate.der,
      );
      await expect(sign()).resolves.toBeDefined();
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

function serialNumberOf(signed: SignedCertificate): bigint {
  return BigInt(`0x${parse(signed).serialNumber}`);
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
