import {
  AuthorityUnavailableError,
  type IssuedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import { createSigningRequest } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import {
  type Directory,
  emptyUser,
  PrincipalSet,
  PrivateDirectory,
} from '@directory-gateway/directory-core';
import { holder, person } from '@directory-gateway/directory-core/testUtils';
import { PermissiveAuthority } from '../__testUtils__/certificates/PermissiveAuthority';
import type {
  CertificateAuthorities,
  LocatedCertificate,
} from './CertificateAuthorities';
import type { CertificateRecord } from './records/certificateRows';
import { type UserCertificate, UserCertificates } from './UserCertificates';

function located(issued: IssuedCertificate): LocatedCertificate {
  return { ...issued, authority: 'ca' };
}

describe('UserCertificates', () => {
  /** Lists the certificates of alice's record with the `get` method of a CA. */
  async function list(
    record: readonly Buffer[],
    get: CertificateAuthorities['get'],
    options: {
      readonly signal?: AbortSignal;
      /** Certificates in the gateway's records, of a CA that `get` reads. */
      readonly recorded?: readonly CertificateRecord[];
      /** Names of the CAs that cannot look up certificates. */
      readonly authorities?: readonly string[];
    } = {},
  ) {
    const { recorded = [], authorities = [] } = options;
    const { signal = new AbortController().signal } = options;
    const served: Pick<Directory, 'getUser'> = {
      getUser: async () => ({
        ...emptyUser(),
        username: 'alice',
        certificates: record,
      }),
    };
    const certificates = new UserCertificates({
      authorities: {
        get,
        present: each =>
          each.certificate && { ...located(each as never), record: each },
        recorded: authorities,
      },
      records: { listOf: async () => recorded },
      stableIdOf: () => 'ipaUniqueID=1',
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

  const permissive = new PermissiveAuthority();

  async function sign() {
    const signed = await permissive.sign(
      createSigningRequest({
        username: 'alice',
        principal: 'alice',
        profile: 'userCerts',
      }),
    );
    return located({ ...signed, cacn: 'permissive', owners: ['alice'] });
  }

  /** Returns the gateway's record of a certificate. */
  function recordOf(
    { certificate }: IssuedCertificate,
    change: Partial<CertificateRecord> = {},
  ): CertificateRecord {
    const { description } = certificate;
    if (!description.ok) {
      throw new Error(description.message);
    }
    const { notBefore, publicKey, serialNumber } = description.certificate;
    return {
      id: String(serialNumber),
      authority: 'ca',
      certificate,
      label: 'laptop',
      notBefore: new Date(notBefore),
      publicKeySha256: publicKey.sha256,
      serialNumber,
      ...change,
    } as CertificateRecord;
  }

  it("returns the CA's record of a certificate", async () => {
    const issued = await sign();
    const page = await list([issued.certificate.der], async () => issued);
    expect(page?.items).toEqual([issued]);
  });

  it("merges the user's record and the gateway's records", async () => {
    const [both, own, removed, other] = await Promise.all(
      [1, 2, 3, 4].map(sign),
    );
    const recorded = [
      recordOf(both),
      recordOf(own),
      // 0.2.0 did not record the certificate.
      recordOf(removed, { certificate: undefined }),
    ];
    const get: CertificateAuthorities['get'] = async serialNumber => {
      const [issued] = [both, own, removed].filter(
        each => recordOf(each).serialNumber === serialNumber,
      );
      const record = recorded.find(each => each.serialNumber === serialNumber);
      return (
        issued && { ...issued, record: record && { ...record, label: 'live' } }
      );
    };
    const record = [both, other].map(({ certificate }) => certificate.der);
    const live = await list(record, get, { recorded });
    const byDer = (items: readonly UserCertificate[]) =>
      new Map(items.map(each => [each.certificate.der.toString('hex'), each]));
    const labels = (page: typeof live) => {
      const items = byDer(page?.items ?? []);
      return [both, own, removed, other].map(({ certificate }) => {
        const item = items.get(certificate.der.toString('hex'));
        return item?.record ? item.record.label : item && 'isForeign' in item;
      });
    };
    expect(live?.total).toBe(4);
    expect(labels(live)).toEqual(['live', 'live', 'live', true]);

    // The records are enough for a CA that cannot look up certificates.
    const lookup = jest.fn(async () => undefined);
    const fromRecords = await list(record, lookup, {
      recorded: recorded.slice(0, 2),
      authorities: ['ca'],
    });
    expect(labels(fromRecords)).toEqual(['laptop', 'laptop', undefined, true]);
    expect(lookup).toHaveBeenCalledTimes(1);

    // While the CA is not available, its certificates are shown as recorded.
    const away = await list(
      record,
      async () => {
        throw new AuthorityUnavailableError('');
      },
      { recorded },
    );
    expect(labels(away)).toEqual(['laptop', 'laptop', undefined, true]);
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
  async function certificatesOf(count: number) {
    const issued = await Promise.all(Array.from({ length: count }, sign));
    return issued.map(({ certificate }) => certificate.der);
  }

  it('looks up a few certificates at a time', async () => {
    let running = 0;
    let maximum = 0;
    const page = await list(await certificatesOf(10), async () => {
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
    const page = await list(await certificatesOf(10), get);
    expect(page?.items.map(item => item.cacn ?? item.isForeign)).toEqual(
      Array(10).fill(undefined),
    );
    expect(get).toHaveBeenCalledTimes(4);
  });

  it('does not start lookups after another error', async () => {
    const get = jest.fn().mockRejectedValue(new Error('Invalid'));
    await expect(list(await certificatesOf(10), get)).rejects.toThrow(
      'Invalid',
    );
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
    await list(await certificatesOf(10), get, { signal: client.signal });
    expect(get).toHaveBeenCalledTimes(1);
  });
});
