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
  /** The certificates of alice's record, as a CA's `get` makes them. */
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

  it('returns what the CA knows of a certificate that it issued', async () => {
    const issued = await sign();
    const page = await list([issued.certificate], async () => issued);
    expect(page?.items).toEqual([issued]);
  });

  it('marks one whose serial number the CA gave to another', async () => {
    const [issued, other] = [await sign(), await sign()];
    const page = await list([other.certificate], async () => issued);
    expect(page?.items).toEqual([
      {
        certificate: other.certificate,
        owners: ['alice'],
        isForeign: true,
      },
    ]);
  });

  it('does not know it while the CA is not available, and asks once', async () => {
    const [one, another] = [await sign(), await sign()];
    const get = jest.fn().mockRejectedValue(new AuthorityUnavailableError(''));
    const page = await list([one.certificate, another.certificate], get);
    expect(
      page?.items.map(held => 'isForeign' in held && held.isForeign),
    ).toEqual([undefined, undefined]);
    expect(get).toHaveBeenCalledTimes(1);
  });
});
