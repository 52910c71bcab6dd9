import {
  createSigningRequest,
  describeCertificateAuthority,
} from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { FakeHttpsServer } from './__testUtils__/FakeHttpsServer';
import type { FakeVersion } from './__testUtils__/describeCertificate';
import { FakeCa } from './__testUtils__/FakeCa';
import { startAuthority } from './__testUtils__/startAuthority';

/** Long, for OpenSSL's processes and real connections on a busy machine. */
jest.setTimeout(600_000);

const user = { username: 'alice', principal: 'alice@EXAMPLE.TEST' };

describe.each<[FakeVersion, 'server' | 'Dogtag']>([
  ['4.12', 'server'],
  ['4.9', 'Dogtag'],
])('FreeIPA %s, interrupted by an unavailable %s', (version, interrupted) => {
  describeCertificateAuthority({
    name: 'FreeIpaAuthority',
    async create() {
      const ca = await FakeCa.create();
      const server = await FakeHttpsServer.start({ ca, version });
      const { authority, remove } = await startAuthority({
        servers: [server.origin],
        caFile: ca.caFile,
        password: server.freeIpa.password,
      });
      return {
        authority,
        user,
        profile: 'userCerts',
        cacn: 'ipa',
        refused: [
          {
            why: 'a principal that does not exist',
            change: { principal: 'ghost@EXAMPLE.TEST' },
          },
          {
            why: 'a preserved user',
            change: { principal: 'dave@EXAMPLE.TEST' },
          },
          {
            why: 'a principal of another realm',
            change: { principal: 'alice@OTHER.TEST' },
          },
          {
            why: 'a CSR of another user',
            change: createSigningRequest({
              ...user,
              username: 'bob',
              profile: 'userCerts',
            }),
          },
          {
            why: 'an invalid CSR',
            change: { csr: Buffer.from('not a CSR') },
          },
          {
            why: 'a profile that the CA ACL does not permit for the user',
            change: { profile: 'adminCerts' },
          },
        ],
        async interrupt() {
          if (interrupted === 'Dogtag') {
            server.freeIpa.isDogtagDown = true;
            return async () => {
              server.freeIpa.isDogtagDown = false;
            };
          }
          await server.stop();
          return () => server.listen();
        },
        async revoke({ serialNumber, reason }) {
          ca.issued.get(serialNumber)!.revocationReason = reason;
        },
        async stop() {
          await server.stop();
          await remove();
          await ca.remove();
        },
      };
    },
  });
});
