/* eslint-disable jest/no-export -- a suite for the tests of others */
import { createPublicKey, X509Certificate } from 'node:crypto';
import type { ExpiringQuery, SigningRequest } from '../CertificateAuthority';
import type { RevocableReason } from '../CertificateAuthority';
import type { CertificateAuthoritySubject } from './CertificateAuthoritySubject';
import {
  createSigningRequest,
  type SigningKeyType,
} from './createSigningRequest';
import {
  commonName,
  isSame,
  outcomeOf,
  serialNumberOf,
} from './issuedCertificate';

/** RFC 5280 §4.1.2.2 allows 20 octets; nobody issues all of them. */
const LARGEST_SERIAL_NUMBER = (1n << 159n) - 1n;

/** Validity begins a little earlier, for clocks that are behind. */
const CLOCK_ALLOWANCE_MS = 60 * 60 * 1000;

/**
 * What every {@link CertificateAuthority} promises, as tests: defines a
 * `describe` block in a test runner with Jest's globals.
 *
 * @param options - `name` is the block's title; `create` is called once, before
 * the first test.
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
      "certifies the request's own key (%s)",
      async key => {
        const request = newRequest(key);
        const issued = await subject.authority.sign(request);
        const certificate = new X509Certificate(issued.certificate);
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

    it('keeps what it tells of a profile, if it does', async () => {
      const profile = subject.authority.profiles?.get(subject.profile);
      const issued = await subject.authority.sign(newRequest());
      const certificate = new X509Certificate(issued.certificate);
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
      expect(issued.chain[0]).toEqual(issued.certificate);
      expect(chain.length).toBeGreaterThan(1);
      for (const [index, above] of chain.slice(1).entries()) {
        expect(chain[index].checkIssued(above)).toBe(true);
        expect(chain[index].verify(above.publicKey)).toBe(true);
        expect(above.ca).toBe(true);
      }
    });

    it('finds what it issued by the serial number, byte for byte', async () => {
      const issued = await subject.authority.sign(newRequest());
      const found = await subject.authority.get(serialNumberOf(issued));
      expect(found?.certificate).toEqual(issued.certificate);
      expect(found?.chain).toEqual(issued.chain);
      expect(found?.cacn).toBe(subject.cacn);
      expect(found?.revocation).toBeUndefined();
      const { username } = subject.user;
      expect(found?.owners ?? [username]).toEqual([username]);
    });

    it('signs requests at the same time, each with its own serial number', async () => {
      const requests = Array.from({ length: 8 }, () => newRequest());
      const issued = await Promise.all(
        requests.map(request => subject.authority.sign(request)),
      );
      expect(new Set(issued.map(serialNumberOf)).size).toBe(requests.length);
      for (const [index, request] of requests.entries()) {
        const { publicKey } = new X509Certificate(issued[index].certificate);
        expect(publicKey.export({ type: 'spki', format: 'der' })).toEqual(
          request.publicKey,
        );
      }
    });

    it.each([
      0n,
      0xdeadbeefn,
      2n ** 64n + 1n,
      2n ** 127n - 1n,
      LARGEST_SERIAL_NUMBER,
    ])('knows nothing of serial number %s', async serialNumber => {
      await expect(subject.authority.get(serialNumber)).resolves.toBe(
        undefined,
      );
    });

    it('names the profile with which it signs, if any', () => {
      const { profiles } = subject.authority;
      expect(profiles?.has(subject.profile)).not.toBe(false);
      expect(profiles?.has('noSuchProfile')).not.toBe(true);
    });

    it('refuses what it will never sign', async () => {
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

    it('tells of a revocation', async () => {
      const issued = await subject.authority.sign(newRequest());
      const serialNumber = serialNumberOf(issued);
      await subject.revoke?.({ serialNumber, reason: 4 });
      const found = await subject.authority.get(serialNumber);
      expect(found?.certificate).toEqual(issued.certificate);
      expect(found?.revocation).toEqual(
        subject.revoke ? { reason: 4 } : undefined,
      );
    });

    it('revokes for good what it issued, and knows no other, if it can', async () => {
      const { authority } = subject;
      const issued = await authority.sign(newRequest());
      const serialNumber = serialNumberOf(issued);
      const revokedBy = 'user:default/admin';
      const revoke = async (number: bigint, reason: RevocableReason) =>
        (await authority.revoke?.({ serialNumber: number, reason, revokedBy }))
          ?.revocation;
      const expected = authority.revoke && { reason: 1 };
      expect(await revoke(serialNumber, 'keyCompromise')).toEqual(expected);
      expect(await revoke(serialNumber, 'superseded')).toEqual(expected);
      expect(await revoke(0xdeadbeefn, 'superseded')).toBeUndefined();
      const found = await authority.get(serialNumber);
      expect(found?.certificate).toEqual(issued.certificate);
      expect(found?.revocation).toEqual(expected);
    });

    it('lists what a user has, unless the directory holds it', async () => {
      const { username } = subject.user;
      const issued = await subject.authority.sign(newRequest());
      const list = (
        which: 'usable' | 'all',
        usernames = ['nobody', username],
      ) => subject.authority.listByUsers?.({ usernames, which });
      const has = (listed: Awaited<ReturnType<typeof list>>) =>
        !listed ||
        (listed.get(username)!.some(isSame(issued)) === true &&
          (listed.get('nobody') ?? []).length === 0);
      expect(has(await list('usable'))).toBe(true);
      expect(has(await list('all'))).toBe(true);
      expect((await list('all', []))?.size ?? 0).toBe(0);

      const serialNumber = serialNumberOf(issued);
      await subject.revoke?.({ serialNumber, reason: 4 });
      const usable = (await list('usable'))?.get(username) ?? [];
      expect(subject.revoke && usable.some(isSame(issued))).not.toBe(true);
      expect(has(await list('all'))).toBe(true);
    });

    it('tells what ends when, if it does', async () => {
      const { authority, user } = subject;
      const issued = await authority.sign(newRequest());
      const serialNumber = serialNumberOf(issued);
      const certificate = new X509Certificate(issued.certificate);
      // Dates of its own: Node's are of another realm than a sandbox's.
      const [begin, end] = [
        certificate.validFromDate,
        certificate.validToDate,
      ].map(date => new Date(date.getTime()));
      const later = new Date(end.getTime() + 1000);
      const find = async (query: Partial<ExpiringQuery> = {}) =>
        (await authority.listExpiring?.({ from: end, before: later, ...query }))
          ?.filter(ending => ending.serialNumber === serialNumber)
          .map(({ username, notBefore, notAfter }) => ({
            username,
            notBefore,
            notAfter,
          }));
      const { username } = user;
      const itself = authority.listExpiring && [
        { username, notBefore: begin, notAfter: end },
      ];
      const nothing = authority.listExpiring && [];

      expect(await find()).toEqual(itself);
      expect(await find({ before: undefined, username })).toEqual(itself);
      expect(await find({ username: 'nobody' })).toEqual(nothing);
      expect(await find({ from: later, before: undefined })).toEqual(nothing);
      expect(await find({ from: begin, before: end })).toEqual(nothing);

      await subject.revoke?.({ serialNumber, reason: 4 });
      expect(subject.revoke && (await find())).toEqual(
        subject.revoke && nothing,
      );
    });

    it('never passes off a failure as an unknown serial number', async () => {
      const issued = await subject.authority.sign(newRequest());
      const restore = await subject.interrupt();
      try {
        const read = subject.authority.get(serialNumberOf(issued));
        expect(await outcomeOf(read)).toBe('AuthorityUnavailableError');
        const unknown = subject.authority.get(0xdeadbeefn);
        expect(await outcomeOf(unknown)).toBe('AuthorityUnavailableError');
        const listed = subject.authority.listByUsers?.({
          usernames: [subject.user.username],
          which: 'usable',
        });
        expect([undefined, 'AuthorityUnavailableError']).toContain(
          await outcomeOf(Promise.resolve(listed)),
        );
        const revoked = subject.authority.revoke?.({
          serialNumber: serialNumberOf(issued),
          reason: 'superseded',
          revokedBy: 'user:default/admin',
        });
        expect([undefined, 'AuthorityUnavailableError']).toContain(
          await outcomeOf(Promise.resolve(revoked)),
        );
        const ending = subject.authority.listExpiring?.({ from: new Date() });
        expect([undefined, 'AuthorityUnavailableError']).toContain(
          await outcomeOf(Promise.resolve(ending)),
        );
        const signed = subject.authority.sign(newRequest());
        expect(['AuthorityUnavailableError', 'OutcomeUnknownError']).toContain(
          await outcomeOf(signed),
        );
      } finally {
        await restore();
      }
      const found = await subject.authority.get(serialNumberOf(issued));
      expect(found?.certificate).toEqual(issued.certificate);
      await expect(subject.authority.sign(newRequest())).resolves.toBeDefined();
    });
  });
}
