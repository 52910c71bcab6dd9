import { registerMswTestHooks } from '@backstage/frontend-test-utils';
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse } from 'msw';
import {
  FakeDirectoryApi,
  failure,
  pageOf,
} from '../__testUtils__/FakeDirectoryApi';
import { group } from '../__testUtils__/groups';
import { person, karl, SCRIPT_URL } from '../__testUtils__/people';
import { renderDirectory } from '../__testUtils__/renderDirectory';
import { saveFile } from '../components/saveFile';

// jsdom does not support downloads.
jest.mock('../components/saveFile', () => ({ saveFile: jest.fn() }));

const server = new FakeDirectoryApi();
registerMswTestHooks(server.msw);

const packager = group({
  groupname: 'packager',
  description: 'People who maintain packages',
  mailing_list: 'packagers@lists.example.test',
  url: SCRIPT_URL,
  irc: ['matrix://example.test/#packagers'],
  member_count: 2,
});
const bob = person({ username: 'bob', is_private: true });

interface NestedGroup {
  groupname: string;
  has_member_groups: boolean;
}

/** A direct member. */
function member(user: typeof karl) {
  return { ...user, direct: true, sponsor: false, path: ['packager'] };
}

/** Serves the `packager` group with all data for its page. */
function servePackager(
  given: {
    sponsors?: (typeof karl)[];
    members?: (typeof karl)[];
    nested?: Record<string, NestedGroup[]>;
  } = {},
) {
  const { sponsors = [], members = [karl, bob], nested = {} } = given;
  server.on('/groups/packager/', () => ({ result: packager }));
  server.on('/groups/packager/sponsors/', () => ({ result: sponsors }));
  server.on('/groups/packager/memberships/', () =>
    pageOf(members.map(one => member(one))),
  );
  server.on('/groups/:groupname/member-groups/', ({ path }) =>
    pageOf(
      (nested[path.split('/')[2]] ?? []).map(one => ({
        ...one,
        description: null,
        member_count: 5,
      })),
    ),
  );
  server.on('/groups/packager/is-member/:username', ({ path }) => ({
    result: /(karl|alice)$/.test(path),
  }));
  server.on('/search/users/', () => pageOf([]));
}

const section = (name: string) => screen.findByRole('region', { name });

beforeEach(() => {
  server.requests.length = 0;
  server.hasCurrentUser('alice');
  server.allows('directory.members.export');
});

afterEach(() => jest.mocked(saveFile).mockClear());

describe('GroupPage', () => {
  it('shows the description, links and sponsors to a member', async () => {
    server.allows('directory.read', 'directory.certificate.sign');
    servePackager({ sponsors: [karl] });
    renderDirectory('/directory/groups/packager');

    expect(
      await screen.findByText('People who maintain packages'),
    ).toBeVisible();
    expect(
      screen.getByRole('link', { name: 'packagers@lists.example.test' }),
    ).toHaveAttribute('href', 'mailto:packagers@lists.example.test');
    expect(
      screen.getByRole('link', { name: '#packagers:example.test' }),
    ).toHaveAttribute(
      'href',
      'https://matrix.to/#/%23packagers%3Aexample.test',
    );
    expect(screen.queryByRole('link', { name: SCRIPT_URL })).toBeNull();
    const sponsors = await section('Sponsors');
    expect(sponsors).toHaveTextContent(
      'Sponsors maintain this group and add its members.',
    );
    expect(
      await within(sponsors).findByRole('link', { name: 'Karl Larsson, karl' }),
    ).toHaveAttribute('href', '/directory/people/karl');
    expect(await screen.findByText('You are a member.')).toBeVisible();
    expect(screen.getAllByRole('heading', { level: 1 })).toHaveLength(1);
    expect(document.title).toBe('packager · Portal');

    await within(await section('Members')).findAllByRole('rowheader');
    await waitFor(() =>
      expect(server.requests.map(({ path }) => path)).toContain(
        '/me/operations/',
      ),
    );
    expect(screen.queryByRole('region', { name: 'History' })).toBeNull();
    expect(screen.queryByRole('button', { name: 'Ask to join' })).toBeNull();
    expect(screen.queryByRole('button', { name: 'Export as CSV' })).toBeNull();
  });

  it('shows the membership history to sponsors', async () => {
    server.hasCurrentUser('karl');
    servePackager({ sponsors: [karl] });
    const time = '2026-05-06T07:08:09.000Z';
    const change = { time, groupname: 'packager' };
    server.on('/groups/packager/history/', () =>
      pageOf([
        { ...change, kind: 'members_changed' },
        { ...change, kind: 'member_removed', username: 'bob' },
        { ...change, kind: 'group_renamed', old_groupname: 'builder' },
        { ...change, kind: 'member_added', member_groupname: 'infra' },
        { ...change, kind: 'group_created' },
      ]),
    );
    renderDirectory('/directory/groups/packager');

    const history = await section('History');
    await within(history).findByText('bob');
    const day = new Date(time).toLocaleString(undefined, {
      dateStyle: 'medium',
      timeStyle: 'short',
    });
    expect(
      within(history)
        .getAllByRole('listitem')
        .map(row => row.textContent),
    ).toEqual([
      `More than 500 members or only direct memberships changed${day}`,
      `bob was removed${day}`,
      `Renamed from builder${day}`,
      `infra was added${day}`,
      `Group created${day}`,
    ]);
  });

  it('shows empty states when there are no sponsors or members', async () => {
    servePackager({ members: [] });
    renderDirectory('/directory/groups/packager');

    expect(await screen.findByText(/This group has no sponsors/)).toBeVisible();
    expect(await screen.findByText('This group has no members')).toBeVisible();
    expect(
      screen.queryByRole('region', { name: 'Groups in this group' }),
    ).toBeNull();
  });

  it('keeps the old total and the empty state until a filter has loaded', async () => {
    servePackager();
    let respond: (() => void) | undefined;
    server.on('/groups/packager/memberships/', async ({ query }) => {
      if (!query.get('membership')) {
        return pageOf([member(karl), member(bob)]);
      }
      await new Promise<void>(resolve => {
        respond = resolve;
      });
      return pageOf([]);
    });
    renderDirectory('/directory/groups/packager');
    await screen.findByText('2 members', { selector: '[role=status]' });

    await userEvent.click(screen.getByRole('radio', { name: 'Locked' }));
    await waitFor(() => expect(respond).toBeDefined());
    expect(screen.getByRole('radio', { name: 'Locked' })).toBeChecked();
    expect(screen.queryByText(/locked account/)).toBeNull();
    expect(
      screen.getByText('2 members', { selector: '[role=status]' }),
    ).toBeVisible();
    respond!();
    expect(await screen.findByText('No locked accounts found')).toBeVisible();
    expect(screen.getByText('0 locked accounts (no access)')).toBeVisible();

    respond = undefined;
    await userEvent.click(screen.getByRole('radio', { name: 'Direct' }));
    await waitFor(() => expect(respond).toBeDefined());
    expect(screen.getByText('No locked accounts found')).toBeVisible();
    expect(screen.queryByText('No members found')).toBeNull();
    respond!();
    expect(await screen.findByText('No members found')).toBeVisible();
  });

  it('prepares a message to a sponsor for users who are not members', async () => {
    server.hasCurrentUser('dave');
    servePackager({ sponsors: [karl, bob] });
    renderDirectory('/directory/groups/packager');

    await userEvent.click(
      await screen.findByRole('button', { name: 'Ask to join' }),
    );
    const items = screen.getAllByRole('menuitem');
    expect(items.map(({ textContent }) => textContent)).toEqual([
      'Karl Larsson', // bob has no address
    ]);
    const href = new URL(items[0].getAttribute('href')!);
    expect(href.pathname).toBe('karl@example.test');
    expect(href.searchParams.get('subject')).toBe('Request to join packager');
    expect(href.searchParams.get('body')).toContain('My username is dave.');
  });

  it('explains an empty search and shows all members on request', async () => {
    servePackager();
    server.on('/groups/packager/memberships/', ({ query }) =>
      pageOf(query.has('q') ? [] : [member(karl)]),
    );
    renderDirectory('/directory/groups/packager?q=nobody&membership=direct');

    expect(await screen.findByText(/No member has “nobody”/)).toBeVisible();
    await userEvent.click(
      screen.getByRole('button', { name: 'Show all members' }),
    );
    expect(
      await screen.findByRole('rowheader', { name: /Karl Larsson/ }),
    ).toBeVisible();
  });

  it('opens nested groups level by level and stops at circular membership', async () => {
    servePackager({
      nested: {
        packager: [{ groupname: 'infra', has_member_groups: true }],
        infra: [{ groupname: 'packager', has_member_groups: true }],
      },
    });
    renderDirectory('/directory/groups/packager');

    const open = await screen.findByRole('button', {
      name: 'Show the groups in infra',
    });
    expect(open).toHaveAttribute('aria-expanded', 'false');
    await userEvent.click(open);

    expect(
      await screen.findByText('Circular membership, shown above'),
    ).toBeVisible();
    expect(open).toHaveAttribute('aria-expanded', 'true');
    expect(
      screen.queryByRole('button', { name: 'Show the groups in packager' }),
    ).toBeNull();
  });

  it('checks the membership of suggested users', async () => {
    servePackager();
    server.on('/groups/packager/memberships/', ({ query }) =>
      pageOf(
        query.get('q') === 'karl'
          ? [
              { username: 'other', direct: true, path: ['packager'] },
              {
                username: 'karl',
                direct: false,
                path: ['rel-eng', 'packager'],
              },
            ]
          : [],
      ),
    );
    const users = [karl, person({ username: 'dave' })];
    server.on('/search/users/', ({ query }) =>
      pageOf(
        users.filter(({ username }) =>
          [query.get('username__exact'), query.get('q')].includes(username),
        ),
      ),
    );
    renderDirectory('/directory/groups/packager');
    const box = await screen.findByRole('combobox', { name: 'Person' });
    const pick = async (username: string, name = username) => {
      await userEvent.clear(box);
      await userEvent.click(box);
      await userEvent.paste(username);
      await userEvent.click(await screen.findByRole('option', { name }));
    };
    const result = () =>
      screen
        .getAllByRole('status')
        .map(({ textContent }) => textContent)
        .join();

    await pick('karl', 'Karl Larsson');
    await waitFor(() => expect(result()).toContain('karl is a member.'));
    expect(
      await screen.findByText(/Inherited from another group/),
    ).toBeVisible();
    await pick('dave');
    await waitFor(() => expect(result()).toContain('dave is not a member.'));
    users.push(person({ username: 'carol', locked: true }));
    await pick('carol');
    await waitFor(() =>
      expect(result()).toContain(
        'carol is in the group, but the account is locked and has no access.',
      ),
    );

    server.on('/groups/packager/is-member/:username', () =>
      failure(503, { message: 'Unavailable' }),
    );
    await pick('carol');
    expect(
      await screen.findByText('The directory is unavailable'),
    ).toBeVisible();
    expect(result()).not.toContain('carol is in the group');
  });

  it('reports that users could not be suggested', async () => {
    servePackager();
    server.on('/search/users/', () => failure(503, { message: 'Unavailable' }));
    renderDirectory('/directory/groups/packager');
    await userEvent.click(
      await screen.findByRole('combobox', { name: 'Person' }),
    );
    await userEvent.paste('karl');
    expect(
      await screen.findByText('The directory is unavailable'),
    ).toBeVisible();
  });

  it('offers a search when the group does not exist', async () => {
    servePackager();
    server.on('/groups/packager/', () =>
      failure(404, { message: 'Group not found', groupname: 'packager' }),
    );
    renderDirectory('/directory/groups/packager');

    expect(
      await screen.findByRole('link', { name: 'Search for packager' }),
    ).toHaveAttribute('href', '/directory/groups?q=packager');
  });

  it('shows the other sections when one fails', async () => {
    servePackager();
    server.on('/groups/packager/sponsors/', () =>
      failure(503, { message: 'Unavailable' }, { 'Retry-After': '60' }),
    );
    renderDirectory('/directory/groups/packager');

    expect(
      await within(await section('Sponsors')).findByText(
        'The directory is unavailable',
      ),
    ).toBeVisible();
    expect(
      await screen.findByRole('rowheader', { name: /Karl Larsson/ }),
    ).toBeVisible();
  });
});

describe('ExportButton', () => {
  const CSV = 'username,human_name\r\nkarl,"Karl\nLarsson"\r\nbob,\'=1+1\r\n';

  const serveCsv = () =>
    server.on(
      '/groups/packager/members.csv',
      () =>
        new HttpResponse(CSV, {
          headers: { 'Content-Type': 'text/csv' },
        }),
    );

  it('offers to sign in again when the session has ended', async () => {
    const ended = () => failure(401, { message: 'Illegal token' });
    servePackager();
    server.on('/groups/packager/members.csv', ended);
    renderDirectory('/directory/groups/packager');

    const list = within(await section('Members'));
    await userEvent.click(
      await list.findByRole('button', { name: 'Export as CSV' }),
    );
    const again = await list.findByRole('button', { name: 'Sign in again' });
    expect(list.getByText('Your session has ended')).toBeVisible();
    serveCsv();
    await userEvent.click(again);
    expect(await list.findByText('Exported.')).toBeVisible();
  });

  it('saves nothing when the stream is aborted', async () => {
    servePackager();
    server.on(
      '/groups/packager/members.csv',
      () =>
        new HttpResponse(
          new ReadableStream({
            start(controller) {
              controller.enqueue(new TextEncoder().encode(CSV));
              controller.error(new Error('aborted'));
            },
          }),
          { headers: { 'Content-Type': 'text/csv' } },
        ),
    );
    renderDirectory('/directory/groups/packager');

    await userEvent.click(
      await screen.findByRole('button', { name: 'Export as CSV' }),
    );
    expect(
      await screen.findByText('The export was interrupted. Nothing was saved.'),
    ).toBeVisible();
    expect(saveFile).not.toHaveBeenCalled();
  });
});
