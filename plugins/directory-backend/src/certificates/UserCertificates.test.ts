import { AuthorityUnavailableError } from '@directory-gateway/backstage-plugin-directory-node';
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
    get: PermissiveAuthority['get'],
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
        signal: new AbortController().signal,
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

  it('queries an unavailable CA only once', async () => {
    const [one, another] = [await sign(), await sign()];
    const get = jest.fn().mockRejectedValue(new AuthorityUnavailableError(''));
    const page = await list(
      [one.certificate.der, another.certificate.der],
      get,
    );
    expect(
      page?.items.map(item => 'isForeign' in item && item.isForeign),
    ).toEqual([undefined, undefined]);
    expect(get).toHaveBeenCalledTimes(1);
  });
});
