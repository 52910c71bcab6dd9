import type { JsonObject } from '@backstage/types';
import { startRealm, type Realm } from '@directory-gateway/realm';
import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@directory-gateway/directory-core/testUtils';
import {
  directoryRefs,
  entitiesByRef,
  targetsOf,
  type Entities,
} from '../__testUtils__/catalog/catalogEntities';
import { ldapOrg } from '../__testUtils__/catalog/ldapOrg';
import { refreshByTicket } from '../__testUtils__/gateway/signIn';
import {
  startGateway,
  type Gateway,
} from '../__testUtils__/gateway/startGateway';

jest.setTimeout(600_000);

const SERVICE_TOKEN = randomBytes(24).toString('base64url');
const CONFLICT = 'detected conflicting entityRef';
/** Names in the directory that are not valid for entities. */
const MAPPED_NAME = /--[0-9a-f]{16}$/;
/** The gateway serves only the first one. */
const OWNERS = ['packager', 'admins'];
const LOCKED = ['user:default/carol', 'user:default/mallory'];

let realm: Realm;
let folder: string;
let gateway: Gateway;
/** The catalog with the LDAP module, and with the directory module. */
let before: Entities;
let after: Entities;

async function start(database: string, catalog: JsonObject): Promise<void> {
  const connection = { directory: join(folder, database) };
  const target = join(folder, 'components.yaml');
  gateway = await startGateway({
    realm,
    entry: catalog.providers ? 'ldapPortal' : 'catalogPortal',
    until: 'started',
    serviceToken: SERVICE_TOKEN,
    env: { NODE_EXTRA_CA_CERTS: realm.caFile },
    kerberosSignIn: { resolvers: [{ resolver: 'directoryUser' }] },
    backend: { database: { client: 'better-sqlite3', connection } },
    catalog: { locations: [{ type: 'file', target }], ...catalog },
  });
}

/** Waits for these users and groups, the components, and their relations. */
async function untilIngested(refs: readonly string[]): Promise<Entities> {
  const components = OWNERS.map(owner => `component:default/${owner}-site`);
  let entities: Entities;
  await eventually(async () => {
    entities = await entitiesByRef(gateway, SERVICE_TOKEN);
    expect(new Set(entities.keys())).toEqual(new Set([...refs, ...components]));
    for (const entity of entities.values()) {
      const { memberOf = [], children = [] } = entity.spec;
      expect(targetsOf(entity, 'memberOf')).toHaveLength(memberOf.length);
      expect(targetsOf(entity, 'parentOf')).toHaveLength(children.length);
    }
  });
  return entities!;
}

const isInBoth = (ref: string) => before.has(ref) && after.has(ref);

/** Groups in both catalogs that a user is in, directly or through others. */
function groupsOf(entities: Entities, user: string): readonly string[] {
  const groups = new Set(targetsOf(entities.get(user), 'memberOf'));
  for (const group of groups) {
    for (const [ref, entity] of entities) {
      if (targetsOf(entity, 'parentOf').includes(group)) {
        groups.add(ref);
      }
    }
  }
  return [...groups].filter(isInBoth).sort();
}

beforeAll(async () => {
  realm = await startRealm({ users: 0 });
  folder = await mkdtemp(join(tmpdir(), 'migration-'));
  const components = OWNERS.map(owner => ({
    apiVersion: 'backstage.io/v1alpha1',
    kind: 'Component',
    metadata: { name: `${owner}-site` },
    spec: { type: 'website', lifecycle: 'production', owner },
  }));
  await writeFile(
    join(folder, 'components.yaml'),
    components.map(component => JSON.stringify(component)).join('\n---\n'),
  );
  await start('database', { providers: { ldapOrg: await ldapOrg(realm) } });
  const refs = await directoryRefs(realm, 'freeipa');
  before = await untilIngested(refs.filter(ref => !MAPPED_NAME.test(ref)));
  await gateway.stop();
  await cp(join(folder, 'database'), join(folder, 'copy'), { recursive: true });
  await start('database', { orphanProviderStrategy: 'delete' });
  after = await untilIngested(await directoryRefs(realm, 'fas'));
});

afterAll(async () => {
  await gateway?.stop();
  await realm?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('a catalog that moves from the LDAP module', () => {
  it('has the same references, except of entities that one module does not provide', () => {
    for (const ref of [...before.keys()].filter(isInBoth)) {
      const { name } = before.get(ref)!.metadata;
      expect(after.get(ref)!.metadata.name).toBe(name);
    }
    const added = [...after.keys()].filter(ref => !before.has(ref));
    expect(added.filter(ref => !MAPPED_NAME.test(ref))).toEqual([]);
    const removed = [...before.keys()].filter(ref => !after.has(ref));
    expect(removed.sort()).toEqual([
      ...['group:default/admins', 'group:default/editors'],
      ...['group:default/infra-internal', 'group:default/ipausers'],
      ...['user:default/admin', 'user:default/nofas'],
    ]);
    expect(gateway.log()).not.toContain(CONFLICT);
  });

  it.each(OWNERS)('keeps %s as the owner of a component', owner => {
    const component = `component:default/${owner}-site`;
    for (const entities of [before, after]) {
      expect(targetsOf(entities.get(component), 'ownedBy')).toEqual([
        `group:default/${owner}`,
      ]);
    }
  });

  it('keeps the groups of users, except of locked users', () => {
    for (const user of [...before.keys()].filter(isInBoth)) {
      const groups = LOCKED.includes(user) ? [] : groupsOf(before, user);
      expect({ user, groups: groupsOf(after, user) }).toEqual({ user, groups });
    }
  });

  it('keeps ownership through nested groups', async () => {
    const [user, group] = ['user:default/erin', 'group:default/packager'];
    const [owned, direct] = [before, after].map(entities =>
      targetsOf(entities.get(user), 'memberOf').filter(isInBoth),
    );
    expect(owned).toContain(group);
    expect(direct).not.toContain(group);
    const { krb5Config } = realm;
    const ccache = await realm.ticket('erin');
    const { body } = await refreshByTicket(gateway, { krb5Config, ccache });
    const { ownershipEntityRefs } = body.backstageIdentity!.identity;
    expect(new Set(ownershipEntityRefs.filter(isInBoth))).toEqual(
      new Set([user, ...owned]),
    );
  });

  it('has conflicts until the entities of the LDAP module are deleted', async () => {
    await gateway.stop();
    await start('copy', { orphanProviderStrategy: 'keep' });
    await eventually(() => expect(gateway.log()).toContain('Reconciled users'));
    expect(gateway.log()).toContain(CONFLICT);
    const kept = await entitiesByRef(gateway, SERVICE_TOKEN);
    for (const [ref, { metadata }] of before) {
      expect(kept.get(ref)?.metadata.uid).toBe(metadata.uid);
    }
    await gateway.stop();
    await start('copy', { orphanProviderStrategy: 'delete' });
    await untilIngested([...after.keys()]);
    expect(gateway.log()).not.toContain(CONFLICT);
  });
});
