import { startRealm, type Realm } from '@directory-gateway/realm';
import fc from 'fast-check';
import { Client } from 'ldapts';
import { readFile } from 'node:fs/promises';
import { exportForAll } from './__testUtils__/gateway/directoryConfig';
import { change, edit } from './__testUtils__/conformance/changeArbitrary';
import {
  addEntry,
  agreementDn,
  groupDn,
  userDn,
} from './__testUtils__/conformance/entries';
import { eventually } from './__testUtils__/eventually';
import {
  comparable,
  ExpectedResponses,
  type ReadRequest,
} from './__testUtils__/conformance/ExpectedResponses';
import { findExposed } from './__testUtils__/conformance/findExposed';
import {
  GatewayClient,
  type ClientResponse,
} from './__testUtils__/gateway/GatewayClient';
import { dumpEntries } from './__testUtils__/naive/DumpedEntry';
import { NaiveDirectory } from './__testUtils__/naive/NaiveDirectory';
import {
  maskHeader,
  personalRoute,
  personalSearch,
} from './__testUtils__/conformance/personalQueryArbitrary';
import { plantMarkers, type Marker } from './__testUtils__/conformance/markers';
import { sessionIn } from './__testUtils__/gateway/sessionCookies';
import {
  startGateway,
  type Gateway,
} from './__testUtils__/gateway/startGateway';
import { HttpClient } from './__testUtils__/gateway/HttpClient';

/** Minimum duration in minutes; at least one round is finished. */
const MINUTES = Number(process.env.MINUTES || 5);
const SEED = Number(process.env.SEED || 1);
/** Writes of a round. */
const WRITES = 12;
/** Responses compared in a round. */
const RESPONSES = 60;

const OWNERS = ['bob', 'dave', 'erin', 'john.doe', 'CamelCase'];
const SERVICE = 'bot/builder.example.test';
/** A private profile, another user, a service, and the guest user `alice`. */
const CALLERS = [
  ...['bob', 'special', SERVICE].flatMap(principal => [
    { principal, credential: 'ticket' } as const,
    { principal, credential: 'cookie' } as const,
  ]),
  { principal: 'alice', credential: 'token' } as const,
];
const GROUP = 'soak';
/** Requests whose responses change in each round. */
const OF_GROUP = [
  `/groups/${GROUP}/members/`,
  `/groups/${GROUP}/is-member/alice`,
  `/search/users/?group=${GROUP}`,
  '/users/bob/groups/',
];
const AGREEMENT = agreementDn('Soak');
/** Entries that random writes leave alone. */
const RESERVED = ['alice', 'bob', 'special'].map(userDn).concat(groupDn(GROUP));

jest.setTimeout((MINUTES + 5) * 60_000);

type SoakCaller = (typeof CALLERS)[number];

let realm: Realm;
let gateway: Gateway;
let client: GatewayClient;
let markers: readonly Marker[];

beforeAll(async () => {
  realm = await startRealm();
  await requireSynchronousPlugins();
  markers = await plantMarkers(realm, OWNERS);
  await realm.modify(
    [
      addEntry(groupDn(GROUP), {
        objectClass: ['ipaUserGroup', 'fasGroup'],
        cn: GROUP,
      }),
      addEntry(AGREEMENT, {
        objectClass: ['fasAgreement', 'ipaAssociation'],
        cn: 'Soak',
        ipaUniqueID: 'Soak',
        ipaEnabledFlag: 'TRUE',
      }),
    ].join(''),
  );
  gateway = await startGateway({
    realm,
    directory: {
      access: exportForAll,
      portalUsers: { namespace: 'default', username: 'entityName' },
    },
  });
  client = new GatewayClient({ gateway, realm });
});

afterAll(async () => {
  await gateway?.stop();
  await realm?.stop();
});

/** A dump is complete only if both plugins write before the response. */
async function requireSynchronousPlugins(): Promise<void> {
  const ldap = new Client({ url: realm.ldapUrl });
  const password = await readFile(realm.rootPasswordFile, 'utf8');
  await ldap.bind(realm.rootDn, password.trim());
  const { searchEntries } = await ldap.search('cn=plugins,cn=config', {
    filter: '(|(cn=MemberOf Plugin)(cn=referential integrity postoperation))',
  });
  await ldap.unbind();
  expect(searchEntries).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        cn: 'MemberOf Plugin',
        'nsslapd-pluginType': 'betxnpostoperation',
      }),
      expect.objectContaining({
        'nsslapd-pluginType': 'betxnpostoperation',
        'referint-update-delay': '0',
      }),
    ]),
  );
  expect(searchEntries).not.toContainEqual(
    expect.objectContaining({ memberOfDeferredUpdate: 'on' }),
  );
}

async function readModel(): Promise<NaiveDirectory> {
  return new NaiveDirectory(await dumpEntries(realm), 'fas');
}

/** Requests of all kinds, mostly about private profiles. */
function requests(model: NaiveDirectory): fc.Arbitrary<ReadRequest> {
  const people = { owners: OWNERS, markers, model };
  return fc.record({
    path: fc.oneof(
      { weight: 3, arbitrary: personalRoute(people) },
      { weight: 1, arbitrary: fc.constantFrom(...OF_GROUP) },
      {
        weight: 1,
        arbitrary: personalSearch(people).map(
          ({ query }) => `/search/users/?${query}`,
        ),
      },
    ),
    mask: maskHeader,
  });
}

/** Sends requests with each kind of credential. */
class Callers {
  readonly #cookies: ReadonlyMap<string, string>;
  readonly #token: HttpClient;

  private constructor(cookies: ReadonlyMap<string, string>, token: HttpClient) {
    this.#cookies = cookies;
    this.#token = token;
  }

  static async signIn(): Promise<Callers> {
    const cookies = new Map<string, string>();
    for (const { principal, credential } of CALLERS) {
      if (credential === 'cookie') {
        const me = await client.request('/v1/me/', { as: principal });
        cookies.set(principal, sessionIn(me));
      }
    }
    return new Callers(cookies, await HttpClient.asGuest(gateway));
  }

  async send(
    { path, mask }: ReadRequest,
    { principal, credential }: SoakCaller,
  ): Promise<ClientResponse> {
    if (credential === 'token') {
      return this.#token.request(`/v1${path}`, { mask });
    }
    const isByTicket = credential === 'ticket';
    return client.request(`/v1${path}`, {
      as: isByTicket ? principal : undefined,
      headers: {
        ...(!isByTicket && { Cookie: this.#cookies.get(principal)! }),
        ...(mask !== undefined && { 'X-Fields': mask }),
      },
    });
  }
}

/** Writes changes that the directory accepts, one after the other. */
async function write(round: number): Promise<void> {
  for (let step = 0; step < WRITES; step++) {
    const model = await readModel();
    const name = `new.${round}.${step}`;
    const [{ ldif }] = fc.sample(
      fc
        .oneof(change(model, name), edit(model, name))
        .filter(({ ldif: text }) => {
          const [, dn] = /^dn: (.*)$/m.exec(text)!;
          return !RESERVED.some(
            reserved => reserved.toLowerCase() === dn.toLowerCase(),
          );
        }),
      { numRuns: 1, seed: SEED + round * WRITES + step },
    );
    await realm.modify(ldif);
  }
  // The last write of each kind shows that those before it have arrived.
  const person = userDn(round % 2 === 0 ? 'alice' : 'bob');
  const text = `Round ${round}`;
  for (const [dn, attribute, value] of [
    [userDn('alice'), 'displayName', text],
    [groupDn(GROUP), 'member', person],
    [groupDn(GROUP), 'description', text],
    [AGREEMENT, 'memberUser', person],
  ]) {
    await realm.modify(
      `dn: ${dn}\nchangetype: modify\nreplace: ${attribute}\n${attribute}: ${value}\n`,
    );
  }
}

/** Sends requests until the writes are done; accepts any intermediate state. */
async function readWhile(
  writing: Promise<void>,
  { callers, model }: { callers: Callers; model: NaiveDirectory },
  seed: number,
): Promise<number> {
  let isWriting = true;
  const end = () => {
    isWriting = false;
  };
  writing.then(end, end);
  // Records of these masks state whether they are private.
  const drawn = fc.sample(
    fc.tuple(requests(model), fc.constantFrom(undefined, '*')),
    { numRuns: 200, seed },
  );
  let sent = 0;
  const read = async (caller: SoakCaller, first: number) => {
    for (let at = first; isWriting; at++) {
      const [{ path }, mask] = drawn[at % drawn.length];
      const { status, text } = await callers.send({ path, mask }, caller);
      const exposed = findExposed(text, caller.principal);
      const isServerError = status >= 500;
      expect({ path, mask, ...caller, isServerError, exposed }).toEqual({
        path,
        mask,
        ...caller,
        isServerError: false,
        exposed: [],
      });
      sent++;
    }
  };
  await Promise.all([
    writing,
    ...CALLERS.map((caller, number) => read(caller, number * 29)),
  ]);
  return sent;
}

/** Compares one response with the model's, to the letter. */
async function expectRight(
  request: ReadRequest,
  options: {
    readonly callers: Callers;
    readonly caller: SoakCaller;
    readonly expected: ExpectedResponses;
  },
): Promise<void> {
  const { callers, caller, expected } = options;
  const received = await callers.send(request, caller);
  const right = await expected.get(request, caller.principal);
  expect({
    request,
    caller,
    ...comparable(received, gateway.baseUrl),
  }).toEqual({
    request,
    caller,
    ...comparable(right, gateway.baseUrl),
  });
}

it('computes the expected response for the caller', async () => {
  const expected = new ExpectedResponses(await readModel(), realm.realm);
  const [{ owner, value }] = markers.filter(
    ({ field }) => field === 'human_name',
  );
  const path = `/users/${owner}/`;
  expect((await expected.get({ path }, owner)).text).toContain(value);
  expect((await expected.get({ path }, 'special')).text).not.toContain(value);
  expect((await expected.get({ path: '/me/' }, SERVICE)).text).toContain(
    `"service":"${SERVICE}"`,
  );
  expect(
    await expected.get({ path: '/users/nobody/' }, 'special'),
  ).toMatchObject({ status: 404 });
});

it(`returns the same results as the model while the directory changes, for ${MINUTES} minutes`, async () => {
  const endsAt = performance.now() + MINUTES * 60_000;
  let sent = 0;
  let round = 0;
  do {
    const callers = await Callers.signIn();
    const model = await readModel();
    const seed = SEED + round;
    sent += await readWhile(write(round), { callers, model }, seed);

    const changed = await readModel();
    const expected = new ExpectedResponses(changed, realm.realm);
    const caller = CALLERS.find(({ credential }) => credential === 'token')!;
    const options = { callers, expected };
    for (const request of [
      { path: '/users/?page_size=1000', mask: '*' },
      { path: '/groups/?page_size=1000', mask: '*' },
      { path: '/users/alice/agreements/' },
      { path: '/users/bob/agreements/' },
    ]) {
      await eventually(() => expectRight(request, { ...options, caller }));
    }
    // Half of the requests refer to entries from before the writes.
    const drawn = [model, changed].flatMap(known =>
      fc.sample(fc.tuple(requests(known), fc.constantFrom(...CALLERS)), {
        numRuns: RESPONSES / 2,
        seed,
      }),
    );
    for (const [request, by] of drawn) {
      await expectRight(request, { ...options, caller: by });
    }
    round++;
  } while (performance.now() < endsAt);
  expect(sent).toBeGreaterThanOrEqual(round * CALLERS.length);
});
