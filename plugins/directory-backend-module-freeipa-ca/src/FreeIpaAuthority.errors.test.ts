import { createSigningRequest } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { keyIn, newRequest, serialOf } from './__testUtils__/newRequest';
import { FakeNetwork } from './__testUtils__/FakeNetwork';

jest.setTimeout(600_000); // long, for OpenSSL's processes on a busy machine

/** FreeIPA's error when the gateway's account may not perform an operation. */
const denied = (operation: string) => ({
  kind: 'error' as const,
  code: 2100,
  message: `Insufficient access: not allowed to perform operation: ${operation}`,
});

describe("FreeIpaAuthority and FreeIPA's errors", () => {
  let network: FakeNetwork;

  beforeAll(async () => {
    network = await FakeNetwork.start();
  });

  beforeEach(() => network.renew());

  afterAll(() => network.stop());

  describe('errors of cert_request', () => {
    const refusals: [number, string, 'invalid' | 'forbidden'][] = [
      [4001, "The principal for this request doesn't exist.", 'invalid'],
      [4005, 'The realm for the principal does not match', 'invalid'],
      [4034, "'add' option is not supported", 'invalid'],
      [3005, "Unknown option: 'x'", 'invalid'],
      [3007, "'principal' is required", 'invalid'],
      [3008, "invalid 'csr': must be a CSR", 'invalid'],
      [3009, "invalid 'csr': No Common Name was found", 'invalid'],
      [
        4301,
        'Certificate operation cannot be completed: Failure decoding Certificate Signing Request: x',
        'invalid',
      ],
      [
        4301,
        "Certificate operation cannot be completed: CA 'ipa' is disabled",
        'invalid',
      ],
      [
        2100,
        'Insufficient access: Subject alt name type URI is forbidden',
        'forbidden',
      ],
      [
        2100,
        "Insufficient access: Principal 'alice@EXAMPLE.TEST' is not permitted to use CA 'ipa' with profile 'userCerts' for certificate issuance.",
        'forbidden',
      ],
      [4001, 'userCerts: Certificate Profile not found', 'invalid'],
    ];

    it.each(refusals)(
      'error %i "%s" refuses the request as %s',
      async (code, message, kind) => {
        network.first.failNext('cert_request', {
          kind: 'error',
          code,
          message,
        });
        await expect(
          network.authority.sign(newRequest()),
        ).rejects.toMatchObject({
          name: 'AuthorityRefusalError',
          kind,
          message,
        });
        expect([...network.first.log, ...network.second.log]).toEqual([
          'login',
          'cert_request',
        ]);
      },
    );

    it.each([
      [
        2100,
        "Insufficient access: Insufficient privilege to create a certificate with subject alt name 'uid=alice,cn=users,cn=accounts,dc=example,dc=test'.",
      ],
      [4301, 'Request rejected: see https://ipa1.example.test:8443/ca'],
      [4301, 'Rejected\n\tat com.netscape.cms.Profile.submit(Profile.java:1)'],
    ])(
      'error %i does not reveal names of servers and entries',
      async (code, message) => {
        network.first.failNext('cert_request', {
          kind: 'error',
          code,
          message,
        });
        const refusal = await network.authority
          .sign(newRequest())
          .catch(error => error);
        expect(refusal.name).toBe('AuthorityRefusalError');
        expect(refusal.message).toMatch(
          /^FreeIPA (refuses|does not permit) this/,
        );
      },
    );

    const notWritable = (user: string) => ({
      kind: 'error' as const,
      code: 2100,
      message: `Insufficient access: Insufficient 'write' privilege to the 'userCertificate' attribute of entry 'uid=${user},cn=users,cn=accounts,dc=example,dc=test'.`,
    });

    it('throws AuthorityUnavailableError and logs the permission that the account lacks', async () => {
      for (const [fault, permission] of [
        [denied('request certificate'), 'Request Certificate'],
        [notWritable('alice'), 'System: Manage User Certificates'],
      ] as const) {
        network.first.failNext('cert_request', fault);
        await expect(
          network.authority.sign(newRequest()),
        ).rejects.toMatchObject({ name: 'AuthorityUnavailableError' });
        expect(network.log).toContain(
          `error The gateway's account needs the FreeIPA permission "${permission}"`,
        );
      }
    });

    it('throws AuthorityRefusalError for a member of admins', async () => {
      network.first.failNext('cert_request', notWritable('bob'));
      const request = createSigningRequest({
        username: 'bob',
        principal: 'bob@EXAMPLE.TEST',
        profile: 'userCerts',
      });
      await expect(network.authority.sign(request)).rejects.toMatchObject({
        name: 'AuthorityRefusalError',
        kind: 'forbidden',
        message: expect.stringContaining('members of the group "admins"'),
      });
      expect(network.log).not.toContain('permission');
    });

    it('reports the failure of the query for the groups of a user', async () => {
      network.first.failNext('cert_request', notWritable('bob'));
      for (const server of [network.first, network.second]) {
        server.failNext('user_show', { kind: 'cut', executed: false });
      }
      await expect(network.authority.sign(newRequest())).rejects.toMatchObject({
        name: 'AuthorityUnavailableError',
      });
      expect(network.log).not.toContain('needs the FreeIPA permission');
    });

    it.each([
      [4001, 'CA is not configured'],
      [4001, 'sub: Certificate Authority not found'],
      [905, "unknown command 'cert_request'"],
      [909, 'Invalid JSON-RPC request: x'],
      [911, 'Missing or invalid HTTP Referer, x'],
    ])(
      'error %i "%s" is a protocol error and nothing was signed',
      async (code, message) => {
        network.first.failNext('cert_request', {
          kind: 'error',
          code,
          message,
        });
        await expect(
          network.authority.sign(newRequest()),
        ).rejects.toMatchObject({
          name: 'AuthorityProtocolError',
          isUnsigned: true,
        });
        expect(network.first.log).toEqual(['login', 'cert_request']);
      },
    );

    it.each([
      [903, 'an internal error has occurred'],
      [4016, 'Response from CA was not valid JSON'],
      [4302, 'Certificate format error: x'],
      [4035, 'Request failed with status 500: x'],
      [4203, 'Cannot contact the directory'],
    ])(
      'error %i "%s" is a protocol error only when nothing was signed',
      async (code, message) => {
        const error = { kind: 'error', code, message } as const;
        network.first.failNext('cert_request', error, {
          ...error,
          executed: true,
        });
        await expect(
          network.authority.sign(newRequest()),
        ).rejects.toMatchObject({
          name: 'AuthorityProtocolError',
          isUnsigned: false,
        });
        const request = newRequest();
        const issued = await network.authority.sign(request);
        expect(keyIn(issued)).toEqual(request.publicKey);
        expect(network.first.count('cert_request')).toBe(2);
      },
    );

    it.each([
      'Failed to authenticate to CA REST API',
      'PKI API login failed: invalid authentication',
      '503 Server Error: Service Unavailable for url: https://ipa1.test:443/ca/rest/account/login',
    ])(
      'error 4016 "%s" reports the CA as unavailable and nothing was signed',
      async message => {
        const error = { kind: 'error', code: 4016, message } as const;
        network.first.failNext('cert_request', error);
        network.second.failNext('cert_request', error);
        const request = newRequest();
        await expect(network.authority.sign(request)).rejects.toMatchObject({
          name: 'AuthorityUnavailableError',
        });
        await network.authority.sign(request);
        expect([...network.first.log, ...network.second.log]).not.toContain(
          'cert_find',
        );
      },
    );

    it.each([1101, 1200, 1203])(
      'error %i causes a new login and one more attempt',
      async code => {
        const message = 'session or credentials cache';
        network.first.failNext('cert_request', {
          kind: 'error',
          code,
          message,
        });
        await network.authority.sign(newRequest());
        expect(network.first.log).toEqual([
          'login',
          'cert_request',
          'login',
          'cert_request',
        ]);
        const error = { kind: 'error', code, message } as const;
        network.first.failNext('cert_request', error, error);
        network.second.failNext('cert_request', error, error);
        await expect(
          network.authority.sign(newRequest()),
        ).rejects.toMatchObject({ name: 'AuthorityProtocolError' });
      },
    );
  });

  describe.each(['cert_show', 'cert_revoke'] as const)(
    'errors of %s while the CA is down',
    command => {
      it.each([
        [4016, 'Failed to authenticate to CA REST API'],
        [907, "cannot connect to 'https://ipa1.test:443/ca/rest/certs/1': x"],
        [
          4301,
          'Certificate operation cannot be completed: Request failed with status 503: Non-2xx response from CA REST API: 503.  (503)',
        ],
        [
          4301,
          'Certificate operation cannot be completed: Unable to communicate with CMS (503)',
        ],
      ])(
        'error %i "%s" reports the CA as unavailable',
        async (code, message) => {
          const serialNumber = serialOf(
            await network.authority.sign(newRequest()),
          );
          const error = { kind: 'error', code, message } as const;
          network.first.failNext(command, error);
          network.second.failNext(command, error);
          const operations = {
            cert_show: () => network.authority.get(serialNumber),
            cert_revoke: () =>
              network.authority.revoke({
                serialNumber,
                reason: 'superseded',
                revokedBy: 'user:default/admin',
              }),
          };
          await expect(operations[command]()).rejects.toMatchObject({
            name: 'AuthorityUnavailableError',
          });
        },
      );
    },
  );

  describe('errors of cert_show', () => {
    it.each([
      [4001, 'Certificate ID 0x7b not found'],
      [4001, "Certificate with serial number 123 issued by CA 'ipa' not found"],
      [4301, 'Unable to communicate with CMS (Certificate ID 0x7b not found)'],
      [3009, "invalid 'serial_number': can be at most 40 characters"],
      [3009, "invalid 'serial_number': can be at most 2147483647"],
    ])(
      'error %i "%s" means that the certificate does not exist',
      async (code, message) => {
        network.first.failNext('cert_show', { kind: 'error', code, message });
        await expect(network.authority.get(123n)).resolves.toBe(undefined);
      },
    );

    it.each([
      [4001, 'CA is not configured', 'AuthorityProtocolError'],
      [4001, 'x: Certificate Authority not found', 'AuthorityProtocolError'],
      [4301, 'Unable to communicate with CMS (500)', 'AuthorityProtocolError'],
      [4016, 'Response from CA was not valid JSON', 'AuthorityProtocolError'],
      [4302, 'Certificate format error', 'AuthorityProtocolError'],
      [903, 'an internal error has occurred', 'AuthorityProtocolError'],
      [2100, 'Insufficient access: x', 'AuthorityUnavailableError'],
      [3007, "'cacn' is required", 'AuthorityRefusalError'],
    ])(
      'error %i "%s" does not mean that the certificate does not exist',
      async (code, message, name) => {
        const error = { kind: 'error', code, message } as const;
        network.first.failNext('cert_show', error);
        network.second.failNext('cert_show', error);
        await expect(network.authority.get(123n)).rejects.toMatchObject({
          name,
        });
      },
    );

    it('logs that the account may not look up certificates', async () => {
      network.first.failNext('cert_show', denied('retrieve certificate'));
      await expect(network.authority.get(123n)).rejects.toMatchObject({
        name: 'AuthorityUnavailableError',
      });
      expect(network.log).toContain('"Retrieve Certificates from the CA"');
    });

    it.each([
      [903, 'an internal error has occurred'],
      [4035, 'Request failed with status 500: x'],
      [4301, 'Unable to communicate with CMS (503)'],
    ])(
      'error %i "%s" causes a query to the next server',
      async (code, message) => {
        const issued = await network.authority.sign(newRequest());
        network.first.failNext('cert_show', { kind: 'error', code, message });
        const found = await network.authority.get(serialOf(issued));
        expect(found?.certificate).toEqual(issued.certificate);
        expect(network.second.log).toEqual(['login', 'cert_show']);
      },
    );

    it('rejects a response with a different certificate', async () => {
      const one = await network.authority.sign(newRequest());
      const other = await network.authority.sign(newRequest());
      const change = { certificate: other.certificate.der.toString('base64') };
      network.first.failNext('cert_show', { kind: 'change', change });
      await expect(network.authority.get(serialOf(one))).rejects.toMatchObject({
        name: 'AuthorityProtocolError',
      });
    });

    it.each([
      ['no certificate', { certificate: undefined }],
      ['half a certificate', { certificate: 'MIIB' }],
    ])('rejects a response with %s', async (_, change) => {
      const issued = await network.authority.sign(newRequest());
      network.first.failNext('cert_show', { kind: 'change', change });
      await expect(
        network.authority.get(serialOf(issued)),
      ).rejects.toMatchObject({ name: 'AuthorityProtocolError' });
    });
  });
});
