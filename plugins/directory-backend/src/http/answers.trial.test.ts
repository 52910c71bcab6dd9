import { startRealm, type Realm } from '@directory-gateway/realm';
import fc from 'fast-check';
import { Client } from 'ldapts';
import assert from 'node:assert';
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  addEntry,
  addFasGroup,
  addFasUser,
  agreementDn,
  change,
  type DumpedEntry,
  dumpEntries,
  edit,
  eventually,
  findExposed,
  groupDn,
  type Marker,
  NaiveDirectory,
  plantMarkers,
  renamed,
  userDn,
} from '@directory-gateway/directory-core/testUtils';
import { exportForAll } from '../__testUtils__/gateway/directoryConfig';
import {
  comparable,
  type ComparableResponse,
  ExpectedResponses,
  type ReadRequest,
} from '../__testUtils__/conformance/ExpectedResponses';
import {
  GatewayClient,
  type ClientResponse,
} from '../__testUtils__/gateway/GatewayClient';
import {
  maskHeader,
  personalRoute,
  personalSearch,
} from '../__testUtils__/conformance/personalQueryArbitrary';
import { sessionIn } from '../__testUtils__/gateway/sessionCookies';
import {
  startGateway,
  type Gateway,
} from '../__testUtils__/gateway/startGateway';
import { HttpClient } from '../__testUtils__/gateway/HttpClient';

/** Number of deletions that lists may show late at the same time. */
const MAX_LISTED_DELETIONS = 4;

/** Minimum duration in minutes; at least one round is finished. */
const MINUTES = Number(process.env.MINUTES || 5);
const SEED = Number(process.env.SEED || 1);
/** Writes of a round. */
const WRITES = 12;
/** Rounds after which the directory server is restarted. */
const ROUNDS_PER_RESTART = 4;
/**
 * Time after which no response may show an earlier state, in milliseconds:
 * lists omit deleted entries within 20 seconds.
 */
const MAX_STALENESS_MS = 20_000;

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
const AGREEMENT = agreementDn('Soak');
/** A group that contains bob through a group that each round renames. */
const PARENT = 'soak-parent';
const childIn = (round: number) => `soak-child.${round}`;
/** User that each round renames. */
const renamedIn = (round: number) => `soak.user.${round}`;
/** Entries that random writes leave alone. */
const isReserved = (dn: string) =>
  ['alice', 'bob', 'special']
    .map(userDn)
    .some(reserved => reserved.toLowerCase() === dn.toLowerCase()) ||
  /^(cn|uid)=soak/i.test(dn);

/** Requests whose responses change in a round. */
const changing = (round: number) => [
  `/groups/${GROUP}/members/`,
  `/groups/${GROUP}/is-member/alice`,
  `/search/users/?group=${GROUP}`,
  '/users/bob/groups/',
  `/groups/${PARENT}/members/`,
  `/groups/${PARENT}/is-member/bob`,
  `/groups/${PARENT}/is-member/bob`,
  `/groups/${PARENT}/is-member/bob`,
  `/users/${renamedIn(round)}/`,
  `/users/${renamedIn(round + 1)}/`,
];

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
      addFasGroup(GROUP, []),
      addFasUser(renamedIn(0)),
      addFasGroup(childIn(0), [userDn('bob')]),
      addFasGroup(PARENT, [groupDn(childIn(0))]),
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

/** A state of the directory between two writes. */
interface State {
  /**
   * Responses without the deleted entries first, then with each combination of
   * entries that were deleted within the promised time.
   */
  readonly expected: readonly ExpectedResponses[];
  /** Start of the write that led to it, from `performance.now()`. */
  readonly from: number;
  /** End of the next write; `undefined` for the last state. */
  until?: number;
}

/** A response and the time of its request. */
interface TimedResponse {
  readonly request: ReadRequest;
  readonly caller: SoakCaller;
  readonly received: ComparableResponse;
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** All states of the directory, in order. */
class History {
  readonly #states: State[];
  #entries: readonly DumpedEntry[];
  /** Entries of earlier states that lists may still show. */
  #replaced: {
    readonly entries: readonly DumpedEntry[];
    readonly at: number;
  }[] = [];
  /** Restarts of the directory server, each until an export succeeds. */
  readonly #restarts: { readonly from: number; readonly until: number }[] = [];

  private constructor(entries: readonly DumpedEntry[]) {
    this.#entries = entries;
    this.#states = [stateOf(entries, [], -Infinity)];
  }

  static async start(): Promise<History> {
    return new History(await dumpEntries(realm));
  }

  /** Makes one change. */
  async write(ldif: string): Promise<void> {
    const from = performance.now();
    await realm.modify(ldif);
    const at = performance.now();
    this.#states.at(-1)!.until = at;
    const entries = await dumpEntries(realm);
    this.#replaced = [
      ...this.#replaced.filter(each => at - each.at < MAX_STALENESS_MS),
      { entries: this.#entries, at },
    ];
    this.#entries = entries;
    this.#states.push(
      stateOf(
        entries,
        this.#replaced.flatMap(replaced => replaced.entries),
        from,
      ),
    );
  }

  /** Restarts the directory server. Reads continue from the replica. */
  async restart(): Promise<void> {
    const from = performance.now();
    await realm.directory.stop();
    await realm.directory.start();
    await eventually(async () => {
      const exported = await client.request(`/v1/groups/${GROUP}/members.csv`, {
        as: 'bob',
      });
      assert.equal(exported.status, 200);
    });
    this.#restarts.push({ from, until: performance.now() });
  }

  /** Forgets the states that no response may show any more. */
  forget(): void {
    const isOld = ({ until = Infinity }: State) =>
      until + MAX_STALENESS_MS < performance.now();
    this.#states.splice(0, this.#states.filter(isOld).length);
  }

  /** Whether a response refuses an export because the directory restarts. */
  isRefusedExport({ request, received, sentAt, receivedAt }: TimedResponse) {
    return (
      received.status === 503 &&
      request.path.endsWith('/members.csv') &&
      this.#restarts.some(
        ({ from, until }) => from <= receivedAt && sentAt <= until,
      )
    );
  }

  /**
   * Returns whether a response is true of a state that the directory had during
   * the request, or at most the promised time before it.
   */
  async matchesState(response: TimedResponse): Promise<boolean> {
    const { request, caller, received, sentAt, receivedAt } = response;
    for (const { expected, from, until = Infinity } of [
      ...this.#states,
    ].reverse()) {
      if (from <= receivedAt && until + MAX_STALENESS_MS >= sentAt) {
        for (const each of expected) {
          const right = await each.get(request, caller.principal);
          if (isDeepStrictEqual(comparable(right, gateway.baseUrl), received)) {
            return true;
          }
        }
      }
    }
    return false;
  }
}

/** @param earlier - entries of states that lists may still show */
function stateOf(
  entries: readonly DumpedEntry[],
  earlier: readonly DumpedEntry[],
  from: number,
): State {
  const ids = new Set(entries.map(idOf));
  // An entry that was changed and then deleted may be listed without the change.
  const deleted = new Map<string, Map<string, DumpedEntry>>();
  for (const entry of earlier.filter(each => !ids.has(idOf(each)))) {
    const versions = deleted.get(idOf(entry)) ?? new Map();
    deleted.delete(idOf(entry));
    deleted.set(idOf(entry), versions.set(contentOf(entry), entry));
  }
  const combinations = [...deleted.values()]
    .slice(-MAX_LISTED_DELETIONS)
    .reduce<DumpedEntry[][]>(
      (all, versions) => [
        ...all,
        ...[...versions.values()].flatMap(version =>
          all.map(others => [...others, version]),
        ),
      ],
      [[]],
    );
  return {
    expected: combinations.map(
      others =>
        new ExpectedResponses(
          new NaiveDirectory([...entries, ...others], 'fas'),
          realm.realm,
        ),
    ),
    from,
  };
}

/** Returns what identifies an entry across renames. */
function idOf(entry: DumpedEntry): string {
  return entry.text('ipaUniqueID') ?? entry.key;
}

/** Returns an entry without `memberOf`, which other entries determine. */
function contentOf({ record }: DumpedEntry): string {
  return record.replace(/^memberOf:.*$/gm, '');
}

/** Requests of all kinds, mostly about private profiles. */
function requests(
  model: NaiveDirectory,
  round: number,
): fc.Arbitrary<ReadRequest> {
  const people = { owners: OWNERS, markers, model };
  return fc.record({
    path: fc.oneof(
      { weight: 3, arbitrary: personalRoute(people) },
      { weight: 3, arbitrary: fc.constantFrom(...changing(round)) },
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
async function write(history: History, round: number): Promise<void> {
  for (let step = 0; step < WRITES; step++) {
    const model = await readModel();
    const name = `new.${round}.${step}`;
    const [{ ldif }] = fc.sample(
      fc
        .oneof(change(model, name), edit(model, name))
        .filter(({ ldif: text }) => !isReserved(/^dn: (.*)$/m.exec(text)![1])),
      { numRuns: 1, seed: SEED + round * WRITES + step },
    );
    await history.write(ldif);
  }
  if (round % ROUNDS_PER_RESTART === 0) {
    await history.restart();
  }
  await history.write(
    renamed(groupDn(childIn(round)), `cn=${childIn(round + 1)}`),
  );
  await history.write(
    renamed(userDn(renamedIn(round)), `uid=${renamedIn(round + 1)}`),
  );
  // The last write of each kind shows that those before it have arrived.
  const person = userDn(round % 2 === 0 ? 'alice' : 'bob');
  const text = `Round ${round}`;
  for (const [dn, attribute, value] of [
    [userDn('alice'), 'displayName', text],
    [groupDn(GROUP), 'member', person],
    [groupDn(GROUP), 'description', text],
    [AGREEMENT, 'memberUser', person],
  ]) {
    await history.write(
      `dn: ${dn}\nchangetype: modify\nreplace: ${attribute}\n${attribute}: ${value}\n`,
    );
  }
}

/** Sends requests until the writes are done, and returns the responses. */
async function readWhile(
  writing: Promise<void>,
  options: {
    readonly callers: Callers;
    readonly drawn: readonly ReadRequest[];
  },
): Promise<readonly TimedResponse[]> {
  const { callers, drawn } = options;
  const responses: TimedResponse[] = [];
  let isWriting = true;
  const end = () => {
    isWriting = false;
  };
  writing.then(end, end);
  const read = async (caller: SoakCaller, first: number) => {
    for (let at = first; isWriting; at++) {
      const request = drawn[at % drawn.length];
      const sentAt = performance.now();
      const response = await callers.send(request, caller);
      const receivedAt = performance.now();
      if (request.mask === undefined || request.mask === '*') {
        expect(findExposed(response.text, caller.principal)).toEqual([]);
      }
      const received = comparable(response, gateway.baseUrl);
      responses.push({ request, caller, received, sentAt, receivedAt });
    }
  };
  await Promise.all([
    writing,
    ...CALLERS.map((caller, number) => read(caller, number * 29)),
  ]);
  return responses;
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

it(`returns responses that match a recent state of the directory, for ${MINUTES} minutes`, async () => {
  const endsAt = performance.now() + MINUTES * 60_000;
  const history = await History.start();
  let count = 0;
  const mismatches: unknown[] = [];
  let round = 0;
  do {
    const callers = await Callers.signIn();
    const drawn = fc.sample(requests(await readModel(), round), {
      numRuns: 400,
      seed: SEED + round,
    });
    const responses = await readWhile(write(history, round), {
      callers,
      drawn,
    });
    for (const response of responses) {
      const isTrue =
        history.isRefusedExport(response) ||
        (await history.matchesState(response));
      if (!isTrue) {
        const { request, caller, received, sentAt } = response;
        mismatches.push({ round, sentAt, ...request, ...caller, ...received });
      }
    }
    history.forget();
    count += responses.length;
    round++;
  } while (performance.now() < endsAt);
  expect(count).toBeGreaterThanOrEqual(round * CALLERS.length);
  expect(mismatches).toEqual([]);
});
