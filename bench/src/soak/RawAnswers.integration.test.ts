import { startRealm, type Realm } from '@directory-gateway/realm';
import { DirectoryClient } from '../DirectoryClient';
import { People } from '../People';
import { SeededRandom } from '../SeededRandom';
import { drawSoakQuestion } from './drawSoakQuestion';
import { LdapTruth } from './LdapTruth';
import { RawEntries } from './RawEntries';

jest.setTimeout(180_000);

describe('what the API must answer, by LDAP alone', () => {
  let realm: Realm;
  let people: People;
  let entries: RawEntries;
  let truth: LdapTruth;

  beforeAll(async () => {
    realm = await startRealm();
    const directory = await DirectoryClient.connect(realm);
    people = await People.read(directory);
    await directory.close();
    entries = await RawEntries.connect(realm);
    truth = new LdapTruth({ entries, realm: realm.realm });
  });

  afterAll(async () => {
    await entries?.close();
    await realm?.stop();
  });

  async function ask(path: string, username = 'alice') {
    const told = await truth.ask({ path }, username);
    const { status, text } = told!.answer!;
    return { status, body: JSON.parse(text.replace(',}', '}')) };
  }

  it('has the members of a group without those who are locked', async () => {
    const { name, members } = people.largestGroup;
    const { body } = await ask(
      `/groups/${encodeURIComponent(name)}/members/?page_size=40`,
    );
    expect(body).toMatchObject({
      total_results: members.length,
      result: members.slice(0, 40).map(username => ({
        username,
        uri: `/api/directory/v1/users/${encodeURIComponent(username)}/`,
      })),
    });
  });

  it('knows who asks, with a ticket of a service, too', async () => {
    const own = await ask('/me/');
    const service = await ask('/me/', 'bot/builder.example.test');
    expect(own.body.result.username).toBe('alice');
    expect(service.body.result.service).toBe('bot/builder.example.test');
  });

  it('hides what is private from others', async () => {
    const { username } = people.all.find(
      person => person.isPrivate && !person.locked,
    )!;
    const own = await ask(`/users/${username}/`, username);
    const another = await ask(`/users/${username}/`, 'alice');
    expect(own.body.result.human_name).not.toBeNull();
    expect(another.body.result.human_name).toBeNull();
  });

  it('says that there is nobody', async () => {
    expect(await ask('/users/nobody.at.all/')).toEqual({
      status: 404,
      body: { message: 'User not found', name: 'nobody.at.all' },
    });
  });

  it('has an answer to all that comes from the directory', async () => {
    const random = new SeededRandom(1);
    const written = { usernames: [], groupnames: [] };
    const without = new Set<string>();
    for (let count = 0; count < 300; count++) {
      const question = drawSoakQuestion({ random, people, written });
      const told = await truth.ask(question, 'alice');
      if (!told!.answer) {
        without.add(question.path);
      }
    }
    expect([...without].sort()).toEqual(['/certs/1/', '/certs/profiles/']);
  });

  it('follows each write', async () => {
    const before = await truth.lastUsn();
    await realm.modify(
      `dn: uid=alice,cn=users,cn=accounts,${realm.baseDn}\nchangetype: modify\nreplace: displayName\ndisplayName: Another Alice\n`,
    );
    expect(await truth.lastUsn()).not.toBe(before);
    const { body } = await ask('/users/alice/');
    expect(body.result.human_name).toBe('Another Alice');
    expect(await truth.recall(before, { path: '/me/' }, 'alice')).toBe(
      undefined,
    );
  });
});
