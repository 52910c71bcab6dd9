import { registerMswTestHooks } from '@backstage/frontend-test-utils';
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import {
  FakeDirectoryApi,
  failure,
  pageOf,
} from '../__testUtils__/FakeDirectoryApi';
import { person, karl } from '../__testUtils__/people';
import { renderDirectory } from '../__testUtils__/renderDirectory';

const karla = person({
  username: 'karla',
  human_name: 'Karla Ek',
  is_private: false,
  locked: true,
});
const bob = person({ username: 'bob', is_private: true });

const server = new FakeDirectoryApi();
registerMswTestHooks(server.msw);

const searches = () =>
  server.requests.filter(({ path }) => path === '/search/users/');

const searchBox = () => screen.findByRole('searchbox');

beforeEach(() => {
  server.requests.length = 0;
  server.on('/me/colleagues/', () => pageOf([karl, bob]));
  server.on('/search/groups/', () => pageOf([]));
});

describe('PeoplePage', () => {
  it("shows people in the user's groups before a search", async () => {
    renderDirectory('/directory/people');

    expect(
      await screen.findByRole('heading', { name: 'People in your groups' }),
    ).toBeVisible();
    expect(
      await screen.findByRole('link', { name: 'Karl Larsson, karl' }),
    ).toHaveAttribute('href', '/directory/people/karl');
    expect(screen.getByText('Private profile')).toBeVisible();
    expect(screen.getByText('2 people')).toBeVisible();
    expect(await searchBox()).toHaveFocus();
    expect(screen.getAllByRole('heading', { level: 1 })).toHaveLength(1);
    expect(document.title).toBe('People · Portal');
  });

  it('shows all people when the account has no directory user', async () => {
    server.on('/me/colleagues/', () => failure(403, { message: 'Forbidden' }));
    server.on('/users/', () => pageOf([karla], 200));
    renderDirectory('/directory/people');

    expect(
      await screen.findByRole('heading', { name: 'All people' }),
    ).toBeVisible();
    expect(screen.getByText('200 people')).toBeVisible();
    expect(screen.getByText('1 to 24 of 200')).toBeVisible();
    expect(screen.getByText('Locked')).toBeVisible();
  });

  it('searches for a text and highlights its words', async () => {
    server.on('/search/users/', () => pageOf([karl, karla]));
    renderDirectory('/directory/people');
    await userEvent.click(await searchBox());
    await userEvent.paste('Lårsson, karlp');

    expect(await screen.findByText('Larsson')).toBeVisible();
    expect(searches().at(-1)!.query.get('q')).toBe('Lårsson, karlp');
    const card = screen
      .getByRole('link', { name: 'Karl Larsson, karl' })
      .closest('article')!;
    expect(
      [...card.querySelectorAll('mark')].map(mark => mark.textContent),
    ).toEqual(['Larsson', 'karlp', 'karlp']);
    expect(card).toHaveTextContent('GitHub karlp');
    expect(screen.getByText('2 people')).toBeVisible();
  });

  it('searches for short texts, which can match whole names', async () => {
    server.on('/search/users/', () => pageOf([]));
    renderDirectory('/directory/people?q=ka');

    expect(
      await screen.findByText(
        'No people match “ka”. Type at least three characters to search for part of a name.',
      ),
    ).toBeVisible();
    expect(searches()[0].query.get('q')).toBe('ka');
  });

  it('finds the user of a public key', async () => {
    const key = `SHA256:${'a'.repeat(43)}`;
    server.on('/search/users/', ({ query }) =>
      pageOf(query.get('key') === key && !query.has('q') ? [karl] : []),
    );
    renderDirectory(`/directory/people?q=256+${encodeURIComponent(key)}`);

    expect(await screen.findByText('Karl Larsson')).toBeVisible();
    expect(
      screen.getByRole('heading', { name: 'People with this key' }),
    ).toBeVisible();
  });

  it('shows a message when no person has the public key', async () => {
    server.on('/search/users/', () => pageOf([]));
    renderDirectory(`/directory/people?q=SHA256:${'b'.repeat(43)}`);

    expect(
      await screen.findByText('No visible profile contains this key.'),
    ).toBeVisible();
  });

  it('links to groups whose names contain the text', async () => {
    server.on('/search/users/', () => pageOf([]));
    server.on('/search/groups/', ({ query }) =>
      pageOf(
        query.get('q') === 'Packager'
          ? ['packager', 'provenpackager', 'found-by-description'].map(
              groupname => ({ groupname }),
            )
          : [],
      ),
    );
    renderDirectory('/directory/people?q=Packager');

    expect(
      await screen.findByRole('link', { name: 'packager' }),
    ).toHaveAttribute('href', '/directory/groups/packager');
    expect(screen.getByRole('link', { name: 'provenpackager' })).toBeVisible();
    expect(
      screen.queryByRole('link', { name: 'found-by-description' }),
    ).toBeNull();
  });

  it('searches for the name in a GitHub profile URL', async () => {
    server.on('/search/users/', () => pageOf([karl]));
    renderDirectory(
      `/directory/people?q=${encodeURIComponent(
        'https://github.com/karlp?tab',
      )}`,
    );

    await screen.findByText('Karl Larsson');
    expect(searches()[0].query.get('q')).toBe('karlp');
  });

  it('cancels superseded searches', async () => {
    const aborted: string[] = [];
    server.on('/search/users/', () => new Promise(() => undefined));
    server.msw.events.on('request:start', ({ request }) => {
      const { searchParams } = new URL(request.url);
      const text = searchParams.get('q');
      request.signal.addEventListener('abort', () => {
        if (text) {
          aborted.push(text);
        }
      });
    });
    renderDirectory('/directory/people?q=karl');
    await waitFor(() => expect(searches()).toHaveLength(1));

    server.on('/search/users/', () => pageOf([karla]));
    await userEvent.type(await searchBox(), 'a');

    expect(
      await screen.findByRole('link', { name: 'Karla Ek, karla' }),
    ).toBeInTheDocument();
    // The searches for users and for groups.
    expect(aborted).toEqual(['karl', 'karl']);
    server.msw.events.removeAllListeners();
  });

  it('shows the first page of a new search', async () => {
    server.on('/search/users/', () => pageOf([karl], 30));
    renderDirectory('/directory/people?q=karl&page=2');
    expect(await screen.findByText('25 to 30 of 30')).toBeVisible();
    await userEvent.type(await searchBox(), 'a');

    await waitFor(() =>
      expect(searches().at(-1)!.query.get('q')).toBe('karla'),
    );
    expect(searches().at(-1)!.query.get('page_number')).toBe('1');
    // The page in the URL.
    expect(screen.getByText('1 to 24 of 30')).toBeVisible();
  });

  it('applies and removes filters', async () => {
    server.on('/search/users/', () => pageOf([karl]));
    renderDirectory(
      '/directory/people?group=packager&since=2019-01-31&before=2020-04-23&has=github_username',
    );
    const tags = await screen.findByRole('grid', { name: 'Active filters' });
    expect(within(tags).getAllByRole('row')).toHaveLength(4);
    expect(within(tags).getByText(/^Joined on or after /)).toBeVisible();
    await screen.findByText('Karl Larsson');
    const { query } = searches()[0];
    expect([
      query.getAll('group'),
      query.get('creation__after'),
      query.get('creation__before'),
      query.get('github_username'),
    ]).toEqual([['packager'], '2019-01-31', '2020-04-23', '*']);

    const [remove] = within(tags).getAllByRole('button');
    await userEvent.click(remove);

    await waitFor(() =>
      expect(searches().at(-1)!.query.has('group')).toBe(false),
    );
  });

  it('shows the error, the next retry and a retry button', async () => {
    server.on('/me/colleagues/', () =>
      failure(
        503,
        { message: 'The directory is unavailable', request_id: 'r-1' },
        { 'Retry-After': '7' },
      ),
    );
    renderDirectory('/directory/people');

    expect(
      await screen.findByText('The directory is unavailable'),
    ).toBeVisible();
    expect(screen.getByText('Retrying in 7 seconds.')).toBeVisible();
    expect(screen.getByText('Request ID: r-1')).toBeVisible();

    server.on('/me/colleagues/', () => pageOf([karl]));
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await screen.findByText('Karl Larsson')).toBeVisible();
  });
});
