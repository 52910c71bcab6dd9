import { registerMswTestHooks } from '@backstage/frontend-test-utils';
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse } from 'msw';
import {
  DirectoryServer,
  failure,
  pageOf,
} from '../__testUtils__/DirectoryServer';
import { aGroup } from '../__testUtils__/groups';
import { aPerson, karl, SCRIPT_URL } from '../__testUtils__/people';
import { renderDirectory } from '../__testUtils__/renderDirectory';
import { saveFile } from '../components/saveFile';

// jsdom saves no files.
jest.mock('../components/saveFile', () => ({ saveFile: jest.fn() }));

const server = new DirectoryServer();
registerMswTestHooks(server.msw);

const packager = aGroup({
  groupname: 'packager',
  description: 'People who maintain packages',
  mailing_list: 'packagers@lists.example.test',
  url: SCRIPT_URL,
  irc: ['matrix://example.test/#packagers'],
  member_count: 2,
});
const bob = aPerson({ username: 'bob', is_private: true });

interface NestedGroup {
  groupname: string;
  has_member_groups: boolean;
}

/** Knows the group `packager`, and whatever its page asks. */
function hasPackager(
  given: {
    sponsors?: (typeof karl)[];
    members?: (typeof karl)[];
    nested?: Record<string, NestedGroup[]>;
  } = {},
) {
  const { sponsors = [], members = [karl, bob], nested = {} } = given;
  server.on('/groups/packager/', () => ({ result: packager }));
  server.on('/groups/packager/sponsors/', () => ({ result: sponsors }));
  server.on('/groups/packager/members/', () => pageOf(members));
  server.on('/groups/:groupname/member-groups/', ({ path }) =>
    pageOf(
      (nested[path.split('/')[2]] ?? []).map(group => ({
        ...group,
        description: null,
        member_count: 5,
      })),
    ),
  );
  server.on('/groups/packager/is-member/:username', ({ path }) => ({
    result: /(karl|alice)$/.test(path),
  }));
}

const members = () =>
  server.asked.filter(({ path }) => path === '/groups/packager/members/');

const section = (name: string) => screen.findByRole('region', { name });

beforeEach(() => {
  server.asked.length = 0;
  server.hasReader('alice');
  server.allows('directory.members.export');
});

afterEach(() => jest.mocked(saveFile).mockClear());

describe('the page of a group', () => {
  it('says what it is, where to find it, and whom to ask', async () => {
    hasPackager({ sponsors: [karl] });
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
    expect(sponsors).toHaveTextContent('To join, ask one of them.');
    expect(
      await within(sponsors).findByRole('link', { name: 'Karl Larsson, karl' }),
    ).toHaveAttribute('href', '/directory/people/karl');
    expect(await screen.findByText('You are a member.')).toBeVisible();
    expect(screen.getAllByRole('heading', { level: 1 })).toHaveLength(1);
    expect(document.title).toBe('packager · Portal');
  });

  it('says when nobody lets people in, and when nobody is in', async () => {
    hasPackager({ members: [] });
    renderDirectory('/directory/groups/packager');

    expect(await screen.findByText(/This group has no sponsors/)).toBeVisible();
    expect(await screen.findByText('Nobody is in this group')).toBeVisible();
    expect(
      screen.queryByRole('region', { name: 'Groups in this group' }),
    ).toBeNull();
  });

  it('lets the server search and filter its members', async () => {
    hasPackager();
    renderDirectory('/directory/groups/packager');
    await screen.findByRole('link', { name: 'Karl Larsson, karl' });

    await userEvent.click(screen.getByRole('radio', { name: 'Inherited' }));
    await userEvent.type(screen.getByRole('searchbox'), 'lars');
    await waitFor(() => expect(document.querySelector('mark')).not.toBeNull());

    const query = members().pop()!.query;
    expect(query.get('q')).toBe('lars');
    expect(query.get('membership')).toBe('indirect');
    expect(screen.getByText('2 members found')).toBeVisible();
  });

  it('says that no member matches, and shows all on a click', async () => {
    hasPackager();
    server.on('/groups/packager/members/', ({ query }) =>
      pageOf(query.has('q') ? [] : [karl]),
    );
    renderDirectory('/directory/groups/packager?q=nobody&membership=direct');

    expect(await screen.findByText(/No member has “nobody”/)).toBeVisible();
    await userEvent.click(
      screen.getByRole('button', { name: 'Show all members' }),
    );
    expect(
      await screen.findByRole('link', { name: 'Karl Larsson, karl' }),
    ).toBeVisible();
  });

  it('opens nested groups level by level, and stops at a circle', async () => {
    hasPackager({
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
      await screen.findByText('contains itself: shown above'),
    ).toBeVisible();
    expect(open).toHaveAttribute('aria-expanded', 'true');
    expect(
      screen.queryByRole('button', { name: 'Show the groups in packager' }),
    ).toBeNull();
  });

  it('says whether somebody is a member, and when it cannot tell', async () => {
    hasPackager();
    renderDirectory('/directory/groups/packager');
    const box = await screen.findByRole('textbox', { name: 'User name' });

    await userEvent.type(box, ' karl {Enter}');
    const result = () =>
      screen
        .getAllByRole('status')
        .map(({ textContent }) => textContent)
        .join();
    await waitFor(() => expect(result()).toContain('karl is a member.'));
    await userEvent.clear(box);
    await userEvent.type(box, 'dave{Enter}');
    await waitFor(() => expect(result()).toContain('dave is not a member.'));

    server.on('/groups/packager/is-member/:username', () =>
      failure(503, { message: 'Away' }),
    );
    await userEvent.type(box, '{Enter}');
    expect(await screen.findByText('That could not be checked.')).toBeVisible();
    expect(result()).not.toContain('dave is not a member.');
  });

  it('offers the search for a group that is gone', async () => {
    hasPackager();
    server.on('/groups/packager/', () =>
      failure(404, { message: 'Group not found', groupname: 'packager' }),
    );
    renderDirectory('/directory/groups/packager');

    expect(
      await screen.findByRole('link', { name: 'Look for packager' }),
    ).toHaveAttribute('href', '/directory/groups?q=packager');
  });

  it('keeps the rest when a part of it fails', async () => {
    hasPackager();
    server.on('/groups/packager/sponsors/', () =>
      failure(503, { message: 'Away' }, { 'Retry-After': '60' }),
    );
    renderDirectory('/directory/groups/packager');

    expect(
      await within(await section('Sponsors')).findByText(
        'The directory cannot be reached',
      ),
    ).toBeVisible();
    expect(
      await screen.findByRole('link', { name: 'Karl Larsson, karl' }),
    ).toBeVisible();
  });
});

describe('the file of all members', () => {
  const CSV = 'username,human_name\r\nkarl,"Karl\nLarsson"\r\nbob,\'=1+1\r\n';

  it('is not offered to users who may not export', async () => {
    server.allows('directory.read', 'directory.certificate.sign');
    hasPackager();
    renderDirectory('/directory/groups/packager');
    await screen.findByRole('link', { name: 'Karl Larsson, karl' });
    await waitFor(() =>
      expect(server.asked.map(({ path }) => path)).toContain('/me/operations/'),
    );
    expect(screen.queryByRole('button', { name: 'Save as CSV' })).toBeNull();
  });

  it('is saved whole, for spreadsheets', async () => {
    hasPackager();
    server.on(
      '/groups/packager/members.csv',
      () =>
        new HttpResponse(CSV, {
          headers: { 'Content-Type': 'text/csv', 'X-Total-Results': '2' },
        }),
    );
    renderDirectory('/directory/groups/packager');

    await userEvent.click(
      await screen.findByRole('button', { name: 'Save as CSV' }),
    );

    expect(await screen.findByText('Saved 2 members.')).toBeVisible();
    const [{ name, content }] = jest.mocked(saveFile).mock.calls[0];
    expect(name).toBe('packager-members.csv');
    expect((content as Blob).size).toBe(3 + CSV.length); // a byte order mark before it
  });

  it('is not saved when it breaks off', async () => {
    hasPackager();
    server.on(
      '/groups/packager/members.csv',
      () =>
        new HttpResponse(
          new ReadableStream({
            start(controller) {
              controller.enqueue(new TextEncoder().encode(CSV));
              controller.error(new Error('gone'));
            },
          }),
          { headers: { 'Content-Type': 'text/csv' } },
        ),
    );
    renderDirectory('/directory/groups/packager');

    await userEvent.click(
      await screen.findByRole('button', { name: 'Save as CSV' }),
    );
    expect(
      await screen.findByText('The list broke off: nothing was saved.'),
    ).toBeVisible();
    expect(saveFile).not.toHaveBeenCalled();
  });

  it('says how far it is, and is canceled', async () => {
    hasPackager();
    server.on(
      '/groups/packager/members.csv',
      () =>
        new HttpResponse(
          new ReadableStream({
            start(controller) {
              controller.enqueue(
                new TextEncoder().encode('username\r\nkarl\r\n'),
              );
            },
          }),
          {
            headers: { 'Content-Type': 'text/csv', 'X-Total-Results': '3000' },
          },
        ),
    );
    renderDirectory('/directory/groups/packager');

    await userEvent.click(
      await screen.findByRole('button', { name: 'Save as CSV' }),
    );
    expect(await screen.findByText('1 of 3,000 members')).toBeVisible();
    await userEvent.click(screen.getByRole('button', { name: 'Cancel' }));
    expect(
      await screen.findByText('Canceled: nothing was saved.'),
    ).toBeVisible();
    expect(saveFile).not.toHaveBeenCalled();
  });
});
