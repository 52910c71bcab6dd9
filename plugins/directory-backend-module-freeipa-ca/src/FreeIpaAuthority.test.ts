import { createSigningRequest } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import type { FakeVersion } from './__testUtils__/describeCertificate';
import { keyIn, newRequest, serialOf } from './__testUtils__/newRequest';
import { FakeNetwork } from './__testUtils__/FakeNetwork';

jest.setTimeout(600_000); // long, for OpenSSL's processes on a busy machine

describe('FreeIpaAuthority', () => {
  let network: FakeNetwork;

  beforeAll(async () => {
    network = await FakeNetwork.start();
  });

  beforeEach(() => network.renew());

  afterAll(() => network.stop());

  describe('requests', () => {
    it('sends a request for a certificate', async () => {
      const request = newRequest();
      await network.authority.sign(request);
      expect(network.first.lastCall).toEqual({
        method: 'cert_request',
        params: [
          [request.csr.toString('base64')],
          {
            principal: 'alice@EXAMPLE.TEST',
            profile_id: 'userCerts',
            cacn: 'ipa',
            add: false,
            all: true,
            chain: true,
            raw: false,
            version: '2.251',
          },
        ],
        id: 0,
      });
      const headers = Object.fromEntries(network.first.lastRequest!.headers);
      expect(headers).toMatchObject({
        referer: 'https://localhost/ipa',
        'content-type': 'application/json',
        accept: 'application/json',
        'accept-language': 'en',
      });
    });

    it('sends the exact serial number of a certificate', async () => {
      const serialNumber = 2n ** 127n - 1n;
      await network.authority.get(serialNumber);
      expect(network.first.lastCall).toMatchObject({
        method: 'cert_show',
        params: [
          ['170141183460469231731687303715884105727'],
          { cacn: 'ipa', version: '2.251' },
        ],
      });
    });
  });

  describe.each<FakeVersion>(['4.12', '4.9'])('with FreeIPA %s', version => {
    beforeEach(() => network.renew({ version }));

    it('decodes serial numbers, line breaks and chains', async () => {
      const issued = await network.authority.sign(newRequest());
      const found = await network.authority.get(serialOf(issued));
      expect(found).toEqual({
        ...issued,
        cacn: 'ipa',
        revocation: undefined,
        owners: ['alice'],
      });
      expect(issued.chain).toEqual([
        issued.certificate.der,
        network.ca.issuer.raw,
        network.ca.shuffledChain[0].raw,
      ]);
    });
  });

  it('signs for a locked user, because only the gateway checks the lock', async () => {
    const request = createSigningRequest({
      username: 'carol',
      principal: 'carol@EXAMPLE.TEST',
      profile: 'userCerts',
    });
    const issued = await network.authority.sign(request);
    expect(keyIn(issued)).toEqual(request.publicKey);
  });

  it('ends a lookup when its signal aborts', async () => {
    const reason = new Error('The client disconnected');
    const signal = AbortSignal.abort(reason);
    await expect(network.authority.get(7n, { signal })).rejects.toBe(reason);
    const pending = new AbortController();
    network.first.failNext('cert_show', { kind: 'hang', executed: true });
    network.first.onHang = () => pending.abort(reason);
    await expect(
      network.authority.get(7n, { signal: pending.signal }),
    ).rejects.toBe(reason);
    expect(network.second.log).toEqual([]);
  });

  describe('revocation', () => {
    it.each([
      [0, 0],
      [10, 10],
      [7, 0],
      [11, 0],
      ['4', 4],
      [[6], 6],
      [null, 0],
    ])('reads the reason %j as %i', async (revocation_reason, reason) => {
      const issued = await network.authority.sign(newRequest());
      const change = { revoked: true, revocation_reason };
      network.first.failNext('cert_show', { kind: 'change', change });
      const found = await network.authority.get(serialOf(issued));
      expect(found?.revocation).toEqual({ reason });
    });

    const revocationOf = (serialNumber: bigint) => ({
      serialNumber,
      reason: 'privilegeWithdrawn' as const,
      revokedBy: 'user:default/admin',
    });

    it('sends the code of the reason', async () => {
      const serialNumber = serialOf(await network.authority.sign(newRequest()));
      expect(
        await network.authority.revoke(revocationOf(serialNumber)),
      ).toEqual({ reason: 9 });
    });

    describe('of a certificate on hold', () => {
      async function signAndHold(): Promise<bigint> {
        const serialNumber = serialOf(
          await network.authority.sign(newRequest()),
        );
        network.ca.issued.get(serialNumber)!.revocationReason = 6;
        return serialNumber;
      }
      const reasonOf = (serialNumber: bigint) =>
        network.ca.issued.get(serialNumber)?.revocationReason;

      it('ends the hold first', async () => {
        const serialNumber = await signAndHold();
        expect(
          await network.authority.revoke(revocationOf(serialNumber)),
        ).toEqual({ reason: 9 });
        expect(reasonOf(serialNumber)).toBe(9);
      });

      it('fails and logs when the permission for the hold is missing', async () => {
        const serialNumber = await signAndHold();
        network.first.failNext('cert_remove_hold', {
          kind: 'error',
          code: 2100,
          message:
            'Insufficient access: not allowed to perform operation: certificate remove hold',
        });
        await expect(
          network.authority.revoke(revocationOf(serialNumber)),
        ).rejects.toMatchObject({ name: 'AuthorityUnavailableError' });
        expect(reasonOf(serialNumber)).toBe(6);
        expect(network.log).toContain('"Certificate Remove Hold"');
      });

      const alreadyRevoked = {
        kind: 'error',
        code: 4301,
        message: 'certificate has already been revoked',
      } as const;
      const cut = { kind: 'cut', executed: false } as const;

      it.each([
        [
          'a permission is missing',
          {
            kind: 'error',
            code: 2100,
            message:
              'Insufficient access: not allowed to perform operation: revoke certificate',
          } as const,
        ],
        ['the server fails', cut],
      ])('keeps the hold when %s', async (_, fault) => {
        const serialNumber = await signAndHold();
        network.first.failNext('cert_revoke', fault);
        await expect(
          network.authority.revoke(revocationOf(serialNumber)),
        ).rejects.toMatchObject({ name: 'AuthorityUnavailableError' });
        expect(network.first.count('cert_remove_hold')).toBe(0);
        expect(reasonOf(serialNumber)).toBe(6);
      });

      it('restores the hold when the revocation fails after it', async () => {
        const serialNumber = await signAndHold();
        network.first.failNext('cert_revoke', alreadyRevoked, cut);
        await expect(
          network.authority.revoke(revocationOf(serialNumber)),
        ).rejects.toMatchObject({ name: 'AuthorityUnavailableError' });
        expect(reasonOf(serialNumber)).toBe(6);
        expect(network.log).not.toContain('may be valid');
      });

      it('logs when the end of the hold may take effect later', async () => {
        const serialNumber = await signAndHold();
        network.first.failNext('cert_remove_hold', cut);
        await expect(
          network.authority.revoke(revocationOf(serialNumber)),
        ).rejects.toMatchObject({ name: 'AuthorityUnavailableError' });
        expect(reasonOf(serialNumber)).toBe(6);
        expect(network.log).toContain(
          `error Certificate ${serialNumber} may be valid`,
        );
      });

      it('logs when the hold cannot be restored', async () => {
        const serialNumber = await signAndHold();
        network.first.failNext('cert_revoke', alreadyRevoked, cut);
        network.second.failNext('cert_revoke', cut);
        await expect(
          network.authority.revoke(revocationOf(serialNumber)),
        ).rejects.toMatchObject({ name: 'AuthorityUnavailableError' });
        expect(network.log).toContain(
          `error Certificate ${serialNumber} may be valid`,
        );
        await network.authority.revoke(revocationOf(serialNumber));
        expect(reasonOf(serialNumber)).toBe(9);
      });
    });

    describe('a hold', () => {
      const hold = (serialNumber: bigint) =>
        network.authority.hold(serialNumber);
      const release = (serialNumber: bigint) =>
        network.authority.release(serialNumber);
      const sign = async () =>
        serialOf(await network.authority.sign(newRequest()));

      it('lasts until the certificate is released or revoked', async () => {
        const serialNumber = await sign();
        expect(await hold(serialNumber)).toEqual({ reason: 6 });
        expect(await hold(serialNumber)).toEqual({ reason: 6 });
        expect(await release(serialNumber)).toBeUndefined();
        expect(await release(serialNumber)).toBeUndefined();
        await hold(serialNumber);
        await network.authority.revoke(revocationOf(serialNumber));
        expect(await hold(serialNumber)).toEqual({ reason: 9 });
        expect(await release(serialNumber)).toEqual({ reason: 9 });
      });

      it('is not placed on a certificate that does not exist', async () => {
        expect(await hold(7n)).toBeUndefined();
        expect(await release(7n)).toBeUndefined();
        expect(network.first.count('cert_revoke')).toBe(0);
      });

      it.each([
        ['hold', hold, 'cert_revoke'],
        ['release', release, 'cert_remove_hold'],
      ] as const)('reports a failed %s', async (_, change, command) => {
        const serialNumber = await sign();
        if (command === 'cert_remove_hold') {
          await hold(serialNumber);
        }
        network.first.failNext(command, { kind: 'cut', executed: false });
        await expect(change(serialNumber)).rejects.toMatchObject({
          name: 'AuthorityUnavailableError',
        });
        network.first.failNext(command, { kind: 'cut', executed: true });
        expect(await change(serialNumber)).toEqual(
          command === 'cert_revoke' ? { reason: 6 } : undefined,
        );
      });
    });

    it('returns the state in FreeIPA, even if the response was lost', async () => {
      const issued = await network.authority.sign(newRequest());
      const order = revocationOf(serialOf(issued));
      network.first.failNext('cert_revoke', { kind: 'cut', executed: true });
      expect(await network.authority.revoke(order)).toEqual({ reason: 9 });
    });

    it.each([
      [
        'AuthorityUnavailableError',
        {
          kind: 'error' as const,
          code: 2100,
          message:
            'Insufficient access: not allowed to perform operation: revoke certificate',
        },
      ],
      ['AuthorityUnavailableError', { kind: 'cut' as const, executed: false }],
    ])('fails with %s', async (name, fault) => {
      const serialNumber = serialOf(await network.authority.sign(newRequest()));
      network.first.failNext('cert_revoke', fault);
      await expect(
        network.authority.revoke(revocationOf(serialNumber)),
      ).rejects.toMatchObject({ name });
      const found = await network.authority.get(serialNumber);
      expect(found?.revocation).toBeUndefined();
    });
  });
});
