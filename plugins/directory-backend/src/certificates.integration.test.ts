import { createCaCertificate, writePem } from '@directory-gateway/x509';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { userDn } from './__testUtils__/conformance/entries';
import { eventually } from './__testUtils__/eventually';
import { describeSigning } from './__testUtils__/certificates/describeSigning';
import { form, resultOf } from './__testUtils__/gateway/GatewayClient';
import { makeCsr } from './__testUtils__/certificates/makeCsr';
import { startGateway } from './__testUtils__/gateway/startGateway';
import { TokenClient } from './__testUtils__/gateway/TokenClient';
import { embeddedAuthority } from './__testUtils__/gateway/directoryConfig';
import { withGateway } from './__testUtils__/gateway/withGateway';

jest.setTimeout(180_000);

const site = withGateway({
  configure: realm => ({
    // The whole portal: its request log is part of what is tested.
    entry: 'packages/backend/src/index.ts',
    directory: {
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
        limit: { requests: 25 },
      },
    },
  }),
});

describeSigning(site);

describe('GET /certs/profiles/', () => {
  const userCerts = {
    name: 'userCerts',
    purpose: 'Signing in',
    lifetime: 'P30D',
    extended_key_usage: ['clientAuth'],
    is_default: true,
  };
  const builders = {
    name: 'builders',
    purpose: null,
    lifetime: 'P1DT12H',
    extended_key_usage: ['clientAuth', '1.3.6.1.4.1.5'],
    is_default: false,
  };

  it.each([
    // In a group that is nested in one of the two.
    ['erin', [userCerts, builders]],
    ['alice', [userCerts]],
    ['bot/builder.example.test', [userCerts]],
  ])('lists what is open to %s', async (as, profiles) => {
    const answer = await site.client.ask('/v1/certs/profiles/', { as });
    expect(answer.json).toEqual({ result: profiles });
  });

  it('honours a mask', async () => {
    const answer = await site.client.ask('/v1/certs/profiles/', {
      as: 'alice',
      headers: { 'X-Fields': 'lifetime,name,nope' },
    });
    expect(answer.json).toEqual({
      result: [{ lifetime: 'P30D', name: 'userCerts' }],
    });
  });

  it('is for those who are somebody in the directory', async () => {
    const anonymous = await site.client.ask('/v1/certs/profiles/');
    const stranger = await TokenClient.signIn(site.gateway);
    const strange = await stranger.ask('/v1/certs/profiles/');
    expect([anonymous.status, strange.status]).toEqual([401, 403]);
  });
});

describe('GET /users/{username}/certificates/', () => {
  const MARKED = { headers: { 'X-Fields': '*,issued_here' } };
  const list = async (path: string, options: object = {}) => {
    const answer = await site.client.ask(`/v1/users/${path}`, {
      as: 'alice',
      ...options,
    });
    return (answer.json as { result: Record<string, unknown>[] }).result;
  };

  it('shows whole certificates, newest first, page by page', async () => {
    const request = () =>
      site.client.ask('/v1/certs/', {
        as: 'bot/builder.example.test',
        ...form({ user: 'erin', csr: makeCsr({ subject: '/CN=erin' }) }),
      });
    const signed = [await request(), await request()].map(resultOf);
    const all = await list('erin/certificates/');
    const pages = await Promise.all(
      all.map((_, index) =>
        list(`erin/certificates/?page_size=1&page_number=${index + 1}`),
      ),
    );
    expect(all.length).toBeGreaterThan(1);
    expect(all).toEqual(expect.arrayContaining(signed));
    expect(pages.flat()).toEqual(all);
    const times = all.map(({ valid_not_before }) =>
      Date.parse(String(valid_not_before)),
    );
    expect(times).toEqual(times.toSorted((a, b) => b - a));
  });

  it('tells which certificates of a record no CA has issued', async () => {
    const signed = resultOf(
      await site.client.ask('/v1/certs/', {
        as: 'bot/builder.example.test',
        ...form({ user: 'erin', csr: makeCsr({ subject: '/CN=erin' }) }),
      }),
    );
    const issued = new X509Certificate(String(signed.certificate));
    const forged = createCaCertificate({
      // The subject of the CA, and the serial number of what it issued.
      subject: [
        { type: 'O', value: site.realm.realm },
        { type: 'CN', value: 'Certificate Authority' },
      ],
      privateKey: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
      notBefore: new Date(),
      notAfter: new Date(Date.now() + 86_400_000),
      serialNumber: BigInt(`0x${issued.serialNumber}`),
    });
    const certificateOf = (entry: Record<string, unknown>) =>
      new X509Certificate(String(entry.certificate));
    expect(
      certificateOf({ certificate: writePem('CERTIFICATE', forged) }).subject,
    ).toBe(issued.issuer);
    const put = (username: string, der: Buffer) =>
      `dn: ${userDn(username)}\nchangetype: modify\n` +
      `add: userCertificate;binary\n` +
      `userCertificate;binary:: ${der.toString('base64')}\n\n`;
    await site.realm.modify(put('erin', forged) + put('minimal', issued.raw));

    await eventually(async () => {
      const ofErin = (await list('erin/certificates/', MARKED)).filter(
        entry => entry.serial_number_hex === signed.serial_number_hex,
      );
      expect(
        ofErin.map(entry => [
          certificateOf(entry).raw.equals(forged),
          entry.issued_here,
          entry.cacn,
        ]),
      ).toEqual(
        expect.arrayContaining([
          [true, false, null],
          [false, true, signed.cacn],
        ]),
      );
    });
    // In the record of another user it is what the CA knows of it.
    expect(await list('minimal/certificates/')).toEqual([signed]);
  });

  it('honours a mask, and knows no user that is not there', async () => {
    const masked = await site.client.ask('/v1/users/alice/certificates/', {
      as: 'bob',
      headers: { 'X-Fields': 'uri,nope,revoked' },
    });
    const [first] = (masked.json as { result: object[] }).result;
    expect(Object.keys(first)).toEqual(['uri', 'revoked']);
    const nobody = await site.client.ask('/v1/users/nobody/certificates/', {
      as: 'bob',
    });
    expect(nobody.json).toMatchObject({ message: 'User not found' });
  });
});

describe('GET /certs/{serial_number}/', () => {
  it.each(['42', '0', '9'.repeat(60)])('knows no number %s', async serial => {
    const answer = await site.client.ask(`/v1/certs/${serial}/`, {
      as: 'alice',
    });
    expect(answer.status).toBe(404);
    expect(answer.text).toMatch(new RegExp(`"serial_number": ?${serial}\\b`));
  });

  it.each(['abc', '-1', '0x12', '1.5'])('is no path: %s', async serial => {
    const answer = await site.client.ask(`/v1/certs/${serial}/`, {
      as: 'alice',
    });
    expect(answer.json).toMatchObject({
      message: 'The requested URL was not found on the server.',
    });
  });
});

it('serves the revocation list to everyone, and nothing else', async () => {
  const crl = await fetch(`${site.gateway.baseUrl}/api/directory/ca/crl`);
  expect(crl.headers.get('content-type')).toBe('application/pkix-crl');
  for (const path of ['/ca', '/ca/crl/x', '/ca/crl/../../v1/me/', '/ca/CRL']) {
    expect([path, (await site.client.ask(path)).status]).toEqual([path, 401]);
  }
});

it('does not start with a profile that the authority does not have', async () => {
  const started = startGateway({
    realm: site.realm,
    directory: {
      certificates: {
        authority: 'embedded',
        profiles: [{ name: 'userCerts' }, { name: 'vpn' }],
        embedded: {
          organization: site.realm.realm,
          keyFile: `${site.realm.dir}/other-ca-key.pem`,
        },
      },
    },
  });
  await expect(started).rejects.toThrow(
    'directory.certificates.profiles: the authority "embedded" has no profile "vpn", only userCerts',
  );
});
