import {
  AuthorityUnavailableError,
  type CertificateAuthority,
} from '@directory-gateway/backstage-plugin-directory-node';
import { createSigningRequest } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { PermissiveAuthority } from '../__testUtils__/certificates/PermissiveAuthority';
import { holder, person } from '../__testUtils__/people';
import type { Directory } from '../directory/Directory';
import { PrincipalSet } from '../directory/Caller';
import { PrivateDirectory } from '../directory/PrivateDirectory';
import { emptyUser } from '../directory/records';
import { UserCertificates } from './CertificateReader';

describe('UserCertificates', () => {
  /** Lists the certificates of alice's record with the `get` method of a CA. */
  async function list(
    record: readonly Buffer[],
    get: CertificateAuthority['get'],
    signal = new AbortController().signal,
  ) {
    const served: Pick<Directory, 'getUser'> = {
      getUser: async () => ({
        ...emptyUser(),
        username: 'alice',
        certificates: record,
      }),
    };
    const certificates = new UserCertificates({
      authority: { get },
      directory: new PrivateDirectory(served as Directory, {
        hidden: new Set(),
        trustedReaders: new PrincipalSet({}),
      }),
    });
    return await certificates.list(
      { username: 'alice', page: { number: 1, size: 40 } },
      {
        caller: holder(person('alice')),
        signal,
      },
    );
  }

  async function sign() {
    const authority = new PermissiveAuthority();
    return await authority.sign(
      createSigningRequest({
        username: 'alice',
        principal: 'alice',
        profile: 'userCerts',
      }),
    );
  }

  it("returns the CA's record of a certificate", async () => {
    const issued = await sign();
    const page = await list([issued.certificate.der], async () => issued);
    expect(page?.items).toEqual([issued]);
  });

  it('marks a certificate whose serial number belongs to another certificate', async () => {
    const [issued, other] = [await sign(), await sign()];
    const page = await list([other.certificate.der], async () => issued);
    expect(page?.items).toEqual([
      {
        certificate: other.certificate,
        owners: ['alice'],
        isForeign: true,
      },
    ]);
  });

  /** Returns the certificates of a record, which the CA has issued. */
  async function recordOf(count: number) {
    const issued = await Promise.all(Array.from({ length: count }, sign));
    return issued.map(({ certificate }) => certificate.der);
  }

  it('looks up a few certificates at a time', async () => {
    let running = 0;
    let maximum = 0;
    const page = await list(await recordOf(10), async () => {
      running += 1;
      maximum = Math.max(maximum, running);
      await new Promise(resolve => setImmediate(resolve));
      running -= 1;
      return undefined;
    });
    expect(page?.items.map(item => item.cacn ?? item.isForeign)).toEqual(
      Array(10).fill(true),
    );
    expect(maximum).toBe(4);
  });

  it('does not start lookups after the CA was unavailable', async () => {
    const get = jest.fn().mockRejectedValue(new AuthorityUnavailableError(''));
    const page = await list(await recordOf(10), get);
    expect(page?.items.map(item => item.cacn ?? item.isForeign)).toEqual(
      Array(10).fill(undefined),
    );
    expect(get).toHaveBeenCalledTimes(4);
  });

  it('does not start lookups after another error', async () => {
    const get = jest.fn().mockRejectedValue(new Error('Invalid'));
    await expect(list(await recordOf(10), get)).rejects.toThrow('Invalid');
    await new Promise(resolve => setImmediate(resolve));
    expect(get).toHaveBeenCalledTimes(4);
  });

  it('ends the lookups when the client disconnects', async () => {
    const client = new AbortController();
    const get = jest.fn<Promise<undefined>, Parameters<typeof waitForAbort>>(
      waitForAbort,
    );
    async function waitForAbort(
      _serialNumber: bigint,
      options?: { readonly signal?: AbortSignal },
    ): Promise<undefined> {
      client.abort();
      expect(options?.signal?.aborted).toBe(true);
      throw client.signal.reason;
    }
    await list(await recordOf(10), get, client.signal);
    expect(get).toHaveBeenCalledTimes(1);
  });
});
