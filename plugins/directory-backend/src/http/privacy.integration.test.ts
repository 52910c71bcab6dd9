import { openApiDocument } from '@directory-gateway/backstage-plugin-directory-common';
import { startRealm, type Realm } from '@directory-gateway/realm';
import fc from 'fast-check';
import {
  allOf,
  hiddenFieldNames,
  type UserField,
} from '@directory-gateway/directory-core';
import {
  dumpEntries,
  type Marker,
  NaiveDirectory,
  naiveUser,
  type Viewer as NaiveViewer,
  plantMarkers,
  userDn,
} from '@directory-gateway/directory-core/testUtils';
import { makeCsr } from '../__testUtils__/certificates/makeCsr';
import {
  isBrokenMask,
  markerSearches,
  maskHeader,
  personalRoute,
  personalSearch,
} from '../__testUtils__/conformance/personalQueryArbitrary';
import {
  type ClientResponse,
  form,
  GatewayClient,
  resultOf,
  serialOf,
} from '../__testUtils__/gateway/GatewayClient';
import { HttpClient } from '../__testUtils__/gateway/HttpClient';
import { embeddedAuthority } from '../__testUtils__/gateway/directoryConfig';
import {
  type Gateway,
  startGateway,
} from '../__testUtils__/gateway/startGateway';
import { EXACT_TERMS, SUBSTRING_TERMS } from './request/parseUserSearch';

jest.setTimeout(600_000);

/** Private users with markers; `mallory` is also locked. */
const OWNERS = ['bob', 'dave', 'erin', 'john.doe', 'CamelCase', 'mallory'];
const TRUSTED = ['bot/builder.example.test', 'special'];
const OPEN_TO_ALL = [
  {
    principals: ['*'],
    operations: [
      'directory.read',
      'directory.certificate.sign',
      'directory.certificate.revoke',
      'directory.members.export',
    ],
  },
];
const SERVICE_TOKEN = 'token-of-another-service';
/** Number of random requests; `make trials` sets a higher number. */
const REQUESTS = Number(process.env.REQUESTS || 100);

let realm: Realm;
let gateway: Gateway;
let markers: readonly Marker[];
let model: NaiveDirectory;
let viewers: Readonly<Record<string, Viewer>>;

/** A caller and the owners of the private profiles visible to the caller. */
interface Viewer {
  readonly sees: readonly string[];
  readonly username?: string;
  request(path: string, options?: { mask?: string }): Promise<ClientResponse>;
}

beforeAll(async () => {
  realm = await startRealm();
  markers = await plantMarkers(realm, OWNERS);
  await realm.modify(
    `dn: cn=unsung,cn=groups,cn=accounts,${realm.baseDn}\nchangetype: modify\n` +
      `add: member\nmember: ${userDn('special')}\n`,
  );
  model = new NaiveDirectory(await dumpEntries(realm), 'fas');
  gateway = await startGateway({
    realm,
    serviceToken: SERVICE_TOKEN,
    directory: {
      access: OPEN_TO_ALL,
      portalUsers: { namespace: 'default', username: 'entityName' },
      privacy: {
        trustedReaders: {
          principals: ['bot/builder.example.test'],
          groups: ['unsung'],
        },
      },
    },
  });
  viewers = await findViewers();
});

afterAll(async () => {
  await gateway?.stop();
  await realm?.stop();
});

async function findViewers(): Promise<Record<string, Viewer>> {
  const curl = new GatewayClient({ gateway, realm });
  const withTicket = (as: string, sees: readonly string[]): Viewer => ({
    sees,
    username: as,
    request: (path, { mask } = {}) =>
      curl.request(path, {
        as,
        headers: mask === undefined ? {} : { 'X-Fields': mask },
      }),
  });
  const alice = await HttpClient.asGuest(gateway);
  const service = HttpClient.withToken(gateway, SERVICE_TOKEN);
  return {
    alice: { sees: [], username: 'alice', request: alice.request.bind(alice) },
    service: { sees: [], request: service.request.bind(service) },
    admin: withTicket('admin', []),
    host: withTicket('host/build1.example.test', []),
    bob: withTicket('bob', ['bob']),
    CamelCase: withTicket('CamelCase', ['CamelCase']),
    trusted: withTicket(TRUSTED[0], OWNERS),
    member: withTicket(TRUSTED[1], OWNERS),
  };
}

/**
 * Sends a request and returns the owners of markers in the response, without
 * those visible to the viewer and those in the path, which errors repeat.
 */
async function requestAs(
  name: string,
  path: string,
  mask?: string,
): Promise<{ response: ClientResponse; revealed: readonly string[] }> {
  const { sees } = viewers[name];
  const response = await viewers[name].request(`/v1${path}`, { mask });
  const whole = `${response.text}\n${[...response.headers].join('\n')}`;
  const shown = markers.filter(
    ({ owner, text }) =>
      !sees.includes(owner) &&
      !path.includes(text) &&
      whole.toLowerCase().includes(text),
  );
  return { response, revealed: shown.map(({ owner }) => owner) };
}

function total(response: ClientResponse): number {
  return (response.json as { total_results: number }).total_results;
}

/**
 * Sends random requests, whose responses must not contain hidden fields, and
 * returns the number of successful responses.
 */
async function sendRandomRequests(
  names: readonly string[],
  runs: { readonly numRuns: number; readonly seed: number },
): Promise<number> {
  let succeeded = 0;
  const people = { owners: OWNERS, markers, model };
  const viewer = fc.constantFrom(...names);
  const route = personalRoute(people);
  const search = personalSearch(people);
  await fc.assert(
    fc.asyncProperty(viewer, route, maskHeader, async (name, path, header) => {
      const { response, revealed } = await requestAs(name, path, header);
      expect(revealed).toEqual([]);
      expect(response.status).toBeLessThan(500);
      succeeded += Number(response.status === 200);
    }),
    runs,
  );
  await fc.assert(
    fc.asyncProperty(viewer, search, maskHeader, async (name, sent, header) => {
      const path = `/search/users/?${sent.query}`;
      const { response, revealed } = await requestAs(name, path, header);
      expect(revealed).toEqual([]);
      const expected = model.listUsersFor(viewerOf(viewers[name]), {
        from: { kind: 'all' },
        where: allOf(...sent.terms),
        fields: new Set(),
        page: { number: 1, size: 1 },
      });
      if (!isBrokenMask(header)) {
        expect([response.status, total(response)]).toEqual([
          200,
          expected!.total,
        ]);
        succeeded += 1;
      }
    }),
    runs,
  );
  return succeeded;
}

function viewerOf({ sees, username }: Viewer): NaiveViewer {
  return sees === OWNERS
    ? { kind: 'everything' }
    : { kind: 'public', hidden: new Set(hiddenFieldNames), owner: username };
}

it('hides private fields from tokens on every route, with every mask and search', async () => {
  const names = ['alice', 'service'];
  const succeeded = await sendRandomRequests(names, {
    numRuns: REQUESTS,
    seed: 7,
  });
  expect(succeeded).toBeGreaterThan(REQUESTS);
});

it('hides private fields of other users from tickets', async () => {
  const names = ['admin', 'host', 'bob', 'CamelCase', 'trusted', 'member'];
  const succeeded = await sendRandomRequests(names, { numRuns: 60, seed: 8 });
  expect(succeeded).toBeGreaterThan(60);
});

it.each(['bob', 'CamelCase', 'trusted', 'member'])(
  'shows visible private profiles to %s on every route with users',
  async name => {
    const viewer = viewers[name];
    const { sees } = viewer;
    const paths = [
      ...sees.map(owner => `/users/${owner}/`),
      '/users/?page_size=1000',
    ];
    for (const path of paths) {
      const shown = (await viewer.request(`/v1${path}`, { mask: '*' })).text;
      const own = markers.filter(({ owner }) =>
        path.includes('page_size')
          ? sees.includes(owner)
          : path === `/users/${owner}/`,
      );
      for (const marker of own) {
        expect(shown).toContain(marker.text);
      }
    }
  },
);

it.each(hiddenFieldNames)('hides %s of private users only', async field => {
  const { json } = await viewers.alice.request('/v1/users/?page_size=1000', {
    mask: field,
  });
  const expected = model.users.map(user => ({
    [field]:
      user.text('fasIsPrivate') === 'TRUE'
        ? null
        : (naiveUser(user, [field])[field] ?? null),
  }));
  expect((json as { result: unknown }).result).toEqual(expected);
  expect(new Set(expected.map(record => record[field])).size).toBeGreaterThan(
    2,
  );
});

it('finds users by a hidden text only for callers who may see it', async () => {
  const bobs = markers.filter(({ owner }) => owner === 'bob');
  const searches = bobs.flatMap(markerSearches);
  const hidden = (terms: Readonly<Record<string, UserField>>) =>
    Object.values(terms).filter(field => hiddenFieldNames.includes(field));
  expect(searches).toHaveLength(
    hidden(SUBSTRING_TERMS).length * 3 + hidden(EXACT_TERMS).length * 2,
  );
  const found = async (name: string, query: string) =>
    total(await viewers[name].request(`/v1/search/users/?${query}`));
  for (const query of searches) {
    const who = ['alice', 'service', 'trusted', 'bob'];
    const totals = await Promise.all(who.map(name => found(name, query)));
    expect([query, ...totals]).toEqual([query, 0, 0, 1, 1]);
  }
  const elsewhere = markers
    .filter(({ owner }) => owner !== 'bob')
    .flatMap(markerSearches);
  for (const query of elsewhere) {
    expect([query, await found('alice', query)]).toEqual([query, 0]);
  }
});

it('selects members by a hidden name only for callers who may see it', async () => {
  const [{ text, value }] = markers.filter(
    ({ owner, field }) => owner === 'bob' && field === 'human_name',
  );
  const groups = await viewers.alice.request('/v1/users/bob/groups/');
  const [{ groupname }] = (groups.json as { result: { groupname: string }[] })
    .result;
  const selected = async (name: string, part: string) => {
    const q = encodeURIComponent(part);
    const group = encodeURIComponent(groupname);
    const path = `/v1/groups/${group}/members/?q=${q}`;
    return total(await viewers[name].request(path));
  };
  for (const part of [text, text.slice(3, 9), value.toUpperCase()]) {
    const who = ['alice', 'service', 'trusted', 'bob'];
    const totals = await Promise.all(who.map(name => selected(name, part)));
    expect([part, ...totals]).toEqual([part, 0, 0, 1, 1]);
  }
  expect(await selected('alice', 'bob')).toBeGreaterThan(0);
});

it('hides the same fields in an export as in the list', async () => {
  const get = (name: string, path: string) =>
    viewers[name].request(`/v1/groups/contributors/${path}`, {
      mask: ['username', ...hiddenFieldNames].join(','),
    });
  for (const name of ['alice', 'trusted']) {
    const file = (await get(name, 'members.csv')).text;
    const list = (await get(name, 'members/?page_size=1000')).json as {
      result: Record<string, unknown>[];
    };
    const shown = markers.filter(({ text }) => file.includes(text));
    const listed = markers.filter(({ text }) =>
      JSON.stringify(list).includes(text),
    );
    expect(shown).toEqual(listed);
    expect(shown.length > 0).toBe(name === 'trusted');
  }
});

describe.each([
  {
    what: 'certificates.readable: own',
    privacy: { trustedReaders: { principals: TRUSTED } },
    readable: 'own',
    hidden: [...hiddenFieldNames, 'certificates'],
    owner: 'alice',
    seenBy: ['alice'],
    hiddenFrom: ['bob', TRUSTED[0]],
  },
  {
    what: 'privacy.hiddenFields: [certificates]',
    privacy: {
      hiddenFields: ['certificates'],
      trustedReaders: { principals: TRUSTED },
    },
    readable: 'all',
    hidden: ['certificates'],
    owner: 'bob',
    seenBy: ['bob', TRUSTED[1]],
    hiddenFrom: ['alice'],
  },
])('with $what', ({ privacy, readable, hidden, owner, seenBy, hiddenFrom }) => {
  let restricted: Gateway;
  let client: GatewayClient;
  let serial: string;
  let paths: readonly string[];
  let encoded: string;

  beforeAll(async () => {
    const { authority, embedded } = embeddedAuthority(realm, `ca-${readable}`);
    restricted = await startGateway({
      realm,
      directory: {
        privacy,
        certificates: {
          authority,
          embedded,
          readable,
          profiles: [{ name: 'userCerts' }],
        },
        access: OPEN_TO_ALL,
        fasjson: { enabled: true },
      },
    });
    client = new GatewayClient({ gateway: restricted, realm });
    const signed = await client.request('/v1/certs/', {
      as: owner,
      ...form({ user: owner, csr: makeCsr({ subject: `/CN=${owner}` }) }),
    });
    serial = serialOf(signed);
    // A line of the signature: it has no line break in any encoding.
    encoded = String(resultOf(signed).certificate).split('\n').at(-4)!;
    const groups = await client.request(`/v1/users/${owner}/groups/`, {
      as: owner,
    });
    const [{ groupname }] = (groups.json as { result: { groupname: string }[] })
      .result;
    const values: Readonly<Record<string, string>> = {
      username: owner,
      groupname: encodeURIComponent(groupname),
      serial_number: serial,
      principal: owner,
    };
    const queries: Readonly<Record<string, string>> = {
      '/search/users/': `?username__exact=${owner}`,
      '/search/groups/': '?groupname=*',
    };
    paths = Object.entries(openApiDocument.paths ?? {})
      .filter(([, operations]) => operations?.get)
      .flatMap(([path]) => {
        const address = path.replace(/\{(\w+)\}/g, (_, name) => values[name]);
        return [`/v1${address}`, `/fasjson/v1${address}`].map(
          mounted => `${mounted}${queries[path] ?? '?page_size=40'}`,
        );
      });
  });

  afterAll(async () => {
    await restricted?.stop();
  });

  /** The routes that show the certificate to a caller. */
  async function showing(as: string): Promise<readonly string[]> {
    const shown: string[] = [];
    for (const path of paths) {
      const headers = { 'X-Fields': '*' };
      const { status, text } = await client.request(path, { as, headers });
      expect(status).toBeLessThan(500);
      if (status === 200 && text.includes(encoded)) {
        shown.push(path.replace(/\?.*/, ''));
      }
    }
    return shown;
  }

  it('reports the hidden fields to the pages', async () => {
    const { json } = await client.request('/v1/me/operations/', { as: owner });
    expect(json).toMatchObject({ result: { hidden_fields: hidden } });
  });

  it.each(seenBy)('shows the certificate to %s on every route', async as => {
    const shown = await showing(as);
    for (const path of [
      '/users/',
      `/users/${owner}/`,
      '/search/users/',
      `/certs/${serial}/`,
    ]) {
      expect(shown).toContain(`/v1${path}`);
      expect(shown).toContain(`/fasjson/v1${path}`);
    }
    expect(shown).toContain(`/v1/users/${owner}/certificates/`);
    expect(
      shown.filter(path => /members(?:\/|\.csv)$/.test(path)),
    ).toHaveLength(3);
  });

  it.each(hiddenFrom)(
    'hides the certificate from %s on every route',
    async as => {
      expect(await showing(as)).toEqual([]);
    },
  );

  it.each(hiddenFrom)(
    'returns only the state to %s on revocation',
    async as => {
      const revocation = `/v1/certs/${serial}/revocation/`;
      const request = { as, ...form({ reason: 'superseded' }) };
      const revoked = await client.request(revocation, request);
      expect(Object.keys(resultOf(revoked)).sort()).toEqual([
        'cacn',
        'revocation_reason',
        'revoked',
        'serial_number',
        'serial_number_hex',
        'uri',
      ]);
      const [self] = seenBy;
      const seen = await client.request(revocation, { ...request, as: self });
      expect(resultOf(seen)).toMatchObject({
        revoked: true,
        certificate: expect.stringContaining(encoded),
      });
    },
  );
});
