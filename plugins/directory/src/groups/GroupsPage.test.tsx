import { registerMswTestHooks } from '@backstage/frontend-test-utils';
import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import {
  FakeDirectoryApi,
  failure,
  pageOf,
} from '../__testUtils__/FakeDirectoryApi';
import { group } from '../__testUtils__/groups';
import { renderDirectory } from '../__testUtils__/renderDirectory';

const server = new FakeDirectoryApi();
registerMswTestHooks(server.msw);

const packager = group({
  groupname: 'packager',
  description: 'People who maintain packages',
  member_count: 1234,
});
const unsung = group({ groupname: 'unsung' });

const row = (name: RegExp) => screen.findByRole('row', { name });

beforeEach(() => {
  server.requests.length = 0;
  server.hasCurrentUser('alice');
});

describe('GroupsPage', () => {
  it('lists groups with their descriptions and sizes', async () => {
    server.on('/groups/', () => pageOf([packager, unsung], 35));
    renderDirectory('/directory/groups');

    const first = await row(/packager/);
    expect(first).toHaveTextContent('People who maintain packages');
    expect(first).toHaveTextContent('1,234');
    expect(screen.getByText('35 groups')).toBeVisible();
    expect(screen.getByText('1 to 24 of 35')).toBeVisible();
    expect(screen.getByRole('searchbox')).toHaveFocus();
    expect(screen.getAllByRole('heading', { level: 1 })).toHaveLength(1);
    expect(document.title).toBe('Groups · Portal');
  });

  it('opens a group whose name contains a space', async () => {
    const trustAdmins = group({ groupname: 'trust admins' });
    server.on('/groups/', () => pageOf([trustAdmins]));
    server.on('/groups/:groupname/', () => ({ result: trustAdmins }));
    renderDirectory('/directory/groups');

    await userEvent.click(
      await screen.findByRole('link', { name: 'trust admins' }),
    );
    expect(
      await screen.findByRole('heading', { level: 1, name: 'trust admins' }),
    ).toBeVisible();
    expect(server.requests.map(({ path }) => path)).toContain(
      '/groups/trust%20admins/',
    );
  });

  it('searches on the server and highlights the matches', async () => {
    server.on('/groups/', () => pageOf([packager, unsung]));
    server.on('/search/groups/', () => pageOf([packager]));
    renderDirectory('/directory/groups');
    await row(/unsung/);

    await userEvent.click(screen.getByRole('searchbox'));
    await userEvent.paste('packag');

    expect(await screen.findByText('1 group')).toBeVisible();
    expect(document.querySelector('mark')).toHaveTextContent('packag');
    const search = server.requests.at(-1)!;
    expect(search.path).toBe('/search/groups/');
    expect(search.query.get('q')).toBe('packag');
  });

  it('sorts on the server and keeps the order in the URL', async () => {
    server.on('/groups/', () => pageOf([packager, unsung]));
    server.on('/search/groups/', () => pageOf([unsung, packager]));
    renderDirectory('/directory/groups');
    await row(/unsung/);
    const header = (name: RegExp) => screen.getByRole('columnheader', { name });
    expect(header(/Group/)).toHaveAttribute('aria-sort', 'ascending');

    await userEvent.click(header(/Members/));

    await waitFor(() =>
      expect(header(/Members/)).toHaveAttribute('aria-sort', 'ascending'),
    );
    const search = server.requests.at(-1)!;
    expect(search.query.get('sort')).toBe('member_count');
    expect(search.query.get('groupname')).toBe('*');
  });

  it("lists the user's groups", async () => {
    server.on('/groups/', () => pageOf([packager, unsung]));
    server.on('/search/groups/', () => pageOf([packager]));
    renderDirectory('/directory/groups');
    await row(/unsung/);

    await userEvent.click(screen.getByRole('radio', { name: 'My groups' }));

    expect(await screen.findByText('1 group')).toBeVisible();
    expect(server.requests.at(-1)!.query.get('member')).toBe('alice');
  });

  it('opens the page in the URL and offers the first page past the end', async () => {
    server.on('/groups/', ({ query }) =>
      pageOf(query.get('page_number') === '1' ? [packager] : [], 1),
    );
    renderDirectory('/directory/groups?page=9');

    await userEvent.click(
      await screen.findByRole('button', { name: 'Go to the first page' }),
    );
    expect(await row(/packager/)).toBeVisible();
  });

  it('explains an empty search and shows all groups on request', async () => {
    server.on('/groups/', () => pageOf([packager]));
    server.on('/search/groups/', () => pageOf([]));
    renderDirectory('/directory/groups?q=nothing-like-it');

    expect(
      await screen.findByText(/No group has “nothing-like-it”/),
    ).toBeVisible();
    await userEvent.click(
      screen.getByRole('button', { name: 'Show all groups' }),
    );
    expect(await row(/packager/)).toBeVisible();
    expect(screen.getByRole('searchbox')).toHaveValue('');
  });

  it('shows an empty state when there are no groups', async () => {
    server.on('/groups/', () => pageOf([]));
    renderDirectory('/directory/groups');
    expect(await screen.findByText('There are no groups')).toBeVisible();
  });

  it('shows an error and retries on request', async () => {
    server.on('/groups/', () =>
      failure(503, { message: 'Unavailable' }, { 'Retry-After': '60' }),
    );
    renderDirectory('/directory/groups');
    expect(
      await screen.findByRole('heading', {
        name: 'The directory is unavailable',
      }),
    ).toBeVisible();

    server.on('/groups/', () => pageOf([packager], 35));
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    await row(/packager/);

    server.on('/groups/', () => failure(503, { message: 'Unavailable' }));
    await userEvent.click(screen.getByRole('button', { name: 'Next page' }));
    expect(
      await screen.findByRole('button', { name: 'Try again' }),
    ).toBeVisible();
  });
});
