import {
  embeddedAuthority,
  privilegedRules,
} from '../__testUtils__/gateway/directoryConfig';
import { withGateway } from '../__testUtils__/gateway/withGateway';
import { describeCertificates } from '../__testUtils__/suites/describeCertificates';
import {
  ADMINISTRATOR,
  describeRevocation,
  READER,
} from '../__testUtils__/suites/describeRevocation';

jest.setTimeout(600_000);

/** The whole portal, with the embedded CA. */
const site = withGateway({
  configure: realm => ({
    // Its request log and its permission backend are part of what is tested.
    entry: 'portal',
    guest: ADMINISTRATOR,
    policy: { administrators: [ADMINISTRATOR], dangerouslyAllowGuests: true },
    apiClient: { token: READER, permissions: ['directory.read'] },
    directory: {
      access: [
        ...privilegedRules,
        {
          portalUsers: [ADMINISTRATOR],
          operations: [
            'directory.read',
            'directory.certificate.sign',
            'directory.certificate.revoke',
          ],
        },
      ],
      certificates: {
        authority: 'embedded',
        profiles: [
          { name: 'userCerts', purpose: 'Signing in' },
          { name: 'builders', allowedGroups: ['admins', 'ProvenPackager'] },
        ],
        embedded: {
          ...embeddedAuthority(realm).embedded,
          profiles: [
            { name: 'userCerts' },
            {
              name: 'builders',
              validity: 'PT36H',
              extendedKeyUsage: ['clientAuth', '1.3.6.1.4.1.5'],
            },
          ],
        },
        signers: { principals: ['bot/builder.example.test'] },
        limit: { requests: 30 },
      },
    },
  }),
});

describeCertificates(site);
describeRevocation(site);
