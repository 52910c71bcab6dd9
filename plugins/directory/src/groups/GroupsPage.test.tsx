import { registerMswTestHooks } from '@backstage/frontend-test-utils';
import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import {
  DirectoryServer,
  failure,
  pageOf,
} from '../__testUtils__/DirectoryServer';
import { aGroup } from '../__testUtils__/groups';
import { renderDirectory } from '../__testUtils__/renderDirectory';

const server = new DirectoryServer();
registerMswTestHooks(server.msw);

const packager = aGroup({
  groupname: 'packager',
  description: 'People who maintain packages',
  member_count: 1234,
});
const unsung = aGroup({ groupname: 'unsung' });

const row = (name: RegExp) => screen.findByRole('row', { name });

beforeEach(() => {
  server.asked.length = 0;
});

describe('the page of groups', () => {
  it('lists groups with what they are and their size', async () => {
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
    const group = aGroup({ groupname: 'trust admins' });
    server.on('/groups/', () => pageOf([group]));
    server.on('/groups/:groupname/', () => ({ result: group }));
    renderDirectory('/directory/groups');

    await userEvent.click(await row(/trust admins/));
    expect(
      await screen.findByRole('heading', { level: 1, name: 'trust admins' }),
    ).toBeVisible();
    expect(server.asked.map(({ path }) => path)).toContain(
      '/groups/trust%20admins/',
    );
  });

  it('lets the server search, and says when there is too little to ask', async () => {
    server.on('/groups/', () => pageOf([packager, unsung]));
    server.on('/search/groups/', () => pageOf([packager]));
    renderDirectory('/directory/groups');
    await row(/unsung/);

    await userEvent.type(screen.getByRole('searchbox'), 'pa');
    expect(
      await screen.findByText('Type at least three characters.'),
    ).toBeVisible();
    await userEvent.type(screen.getByRole('searchbox'), 'ckag');

    expect(await screen.findByText('1 group')).toBeVisible();
    expect(document.querySelector('mark')).toHaveTextContent('packag');
    const [search, ...others] = server.asked.filter(
      ({ path }) => path === '/search/groups/',
    );
    expect(search.query.get('q')).toBe('packag');
    expect(others).toHaveLength(0);
  });

  it('opens the page that the URL says, and offers the first past the end', async () => {
    server.on('/groups/', ({ query }) =>
      pageOf(query.get('page_number') === '1' ? [packager] : [], 1),
    );
    renderDirectory('/directory/groups?page=9');

    await userEvent.click(
      await screen.findByRole('button', { name: 'Go to the first page' }),
    );
    expect(await row(/packager/)).toBeVisible();
  });

  it('says that nothing is found, and shows everything on a click', async () => {
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

  it('says that there are none', async () => {
    server.on('/groups/', () => pageOf([]));
    renderDirectory('/directory/groups');
    expect(await screen.findByText('There are no groups')).toBeVisible();
  });

  it('says what failed, and tries again', async () => {
    server.on('/groups/', () =>
      failure(503, { message: 'Away' }, { 'Retry-After': '60' }),
    );
    renderDirectory('/directory/groups');
    expect(
      await screen.findByRole('heading', {
        name: 'The directory cannot be reached',
      }),
    ).toBeVisible();

    server.on('/groups/', () => pageOf([packager], 35));
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    await row(/packager/);

    server.on('/groups/', () => failure(503, { message: 'Away' }));
    await userEvent.click(screen.getByRole('button', { name: 'Next page' }));
    expect(
      await screen.findByRole('button', { name: 'Try again' }),
    ).toBeVisible();
  });
});
