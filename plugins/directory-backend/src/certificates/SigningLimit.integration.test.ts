import { PostgresServer } from '@directory-gateway/realm';
import { holder, person } from '@directory-gateway/directory-core/testUtils';
import { SigningLimitExceededError } from './errors';
import { SigningLimit } from './SigningLimit';
import { openDatabase } from '../openDatabase';

jest.setTimeout(600_000);

const REQUESTS = 5;

let postgres: PostgresServer;
let connections: readonly ReturnType<PostgresServer['connect']>[];
let limits: readonly SigningLimit[];

/** Two processes start at the same time on an empty database. */
beforeAll(async () => {
  postgres = await PostgresServer.start();
  const name = await postgres.createDatabase();
  connections = [postgres.connect(name), postgres.connect(name)];
  limits = await Promise.all(
    connections.map(
      async knex =>
        new SigningLimit({
          database: await openDatabase({ getClient: async () => knex }),
          limit: { requests: REQUESTS },
        }),
    ),
  );
});

afterAll(async () => {
  await Promise.all(connections?.map(knex => knex.destroy()) ?? []);
  await postgres?.stop();
});

// All requests are in one period.
beforeEach(() => {
  jest.spyOn(Date, 'now').mockReturnValue(1_800_000_000_000);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const service = (name: string) =>
  holder({
    ...person(name),
    kind: 'service',
    username: undefined,
    service: name,
    dn: `krbprincipalname=${name}@EXAMPLE.TEST,cn=services,cn=accounts`,
  });

it.each([
  ['a service', 'bot/builder.example.test'],
  // Maximum length of a DNS name (RFC 1035 §2.3.4).
  ['a service of a host with a long name', `bot/${'a.'.repeat(126)}b`],
  [
    'a different service with a name of the same length',
    `bot/${'a.'.repeat(126)}c`,
  ],
])('allows %s exactly the configured number of requests', async (_, name) => {
  const caller = service(name);
  const results = await Promise.allSettled(
    [...limits, ...limits, ...limits, ...limits].map(limit =>
      limit.consume(caller),
    ),
  );
  const refused = results.filter(each => each.status === 'rejected');
  expect(results.length - refused.length).toBe(REQUESTS);
  expect(refused.map(({ reason }) => reason)).toEqual(
    refused.map(() => expect.any(SigningLimitExceededError)),
  );
});

it('counts concurrent requests from many callers in two processes', async () => {
  const callers = Array.from({ length: 40 }, (_, index) =>
    service(`b${index}`),
  );
  const [first, second] = limits;
  const results = await Promise.allSettled(
    callers.flatMap((caller, index) => [
      ...Array.from({ length: REQUESTS }, () => first.consume(caller)),
      ...Array.from({ length: REQUESTS }, () =>
        second.consume(callers[callers.length - 1 - index]),
      ),
    ]),
  );
  const refused = results.filter(each => each.status === 'rejected');
  expect(refused.map(({ reason }) => reason)).toEqual(
    refused.map(() => expect.any(SigningLimitExceededError)),
  );
  expect(results.length - refused.length).toBe(callers.length * REQUESTS);
});
