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

/** Returns users by the searched field. */
function respondByField(found: Record<string, (typeof karl)[]>) {
  server.on('/search/users/', ({ query }) => {
    const field = Object.keys(found).find(name => query.has(name));
    return pageOf(field ? found[field] : []);
  });
}

const searches = () =>
  server.requests.filter(({ path }) => path === '/search/users/');

const searchBox = () => screen.findByRole('searchbox');

beforeEach(() => {
  server.requests.length = 0;
  server.on('/me/colleagues/', () => pageOf([karl, bob]));
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

  it('shows all people to users without a directory user', async () => {
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

  it('searches each field and highlights the matches', async () => {
    respondByField({
      username: [karl, karla],
      human_name: [karl],
      github_username: [karl],
    });
    renderDirectory('/directory/people');
    await userEvent.type(await searchBox(), 'karl');

    const section = (
      await screen.findByRole('heading', { name: 'User name' })
    ).closest('section')!;
    expect(within(section).getByText('2 matches')).toBeVisible();
    expect(searches().map(({ query }) => [...query.keys()][0])).toEqual([
      'username',
      'human_name',
      'ircnick',
      'github_username',
      'gitlab_username',
    ]);
    const card = screen
      .getByRole('link', { name: 'Karl Larsson, karl' })
      .closest('article')!;
    expect(
      [...card.querySelectorAll('mark')].map(mark => mark.textContent),
    ).toEqual(['Karl', 'karl', 'karl']);
    expect(card).toHaveTextContent('GitHub karlp');
    // Found in three fields, shown once.
    expect(screen.queryByRole('heading', { name: 'GitHub' })).toBeNull();
    expect(screen.getByText('2 people')).toBeVisible();
  });

  it('requires three characters', async () => {
    renderDirectory('/directory/people?q=ka');

    expect(
      await screen.findByText('Type at least three characters.'),
    ).toBeVisible();
    expect(searches()).toHaveLength(0);
  });

  it('cancels superseded searches', async () => {
    const aborted: string[] = [];
    server.on('/search/users/', () => new Promise(() => undefined));
    server.msw.events.on('request:start', ({ request }) => {
      const { searchParams } = new URL(request.url);
      const text = searchParams.get('username');
      request.signal.addEventListener('abort', () => {
        if (text) {
          aborted.push(text);
        }
      });
    });
    renderDirectory('/directory/people?q=karl');
    await waitFor(() => expect(searches()).toHaveLength(5));

    respondByField({ username: [karla] });
    await userEvent.type(await searchBox(), 'a');

    expect(await screen.findByText('Karla Ek')).toBeVisible();
    expect(aborted).toEqual(['karl']);
    server.msw.events.removeAllListeners();
  });

  it('keeps field and page in the URL', async () => {
    server.on('/search/users/', ({ query }) =>
      pageOf(
        query.has('human_name')
          ? [query.get('page_number') === '2' ? karla : karl]
          : [],
        query.has('human_name') ? 30 : 0,
      ),
    );
    renderDirectory('/directory/people?q=karl');
    await userEvent.click(
      await screen.findByRole('button', { name: 'Show all 30' }),
    );
    await userEvent.click(
      await screen.findByRole('button', { name: 'Next page' }),
    );

    expect(
      await screen.findByRole('link', { name: 'Karla Ek, karla' }),
    ).toBeInTheDocument();
    expect(screen.getByText('25 to 30 of 30')).toBeVisible();
    expect(Object.fromEntries(searches().at(-1)!.query)).toMatchObject({
      human_name: 'karl',
      page_number: '2',
      page_size: '24',
    });
  });

  it('applies filters, which can be removed', async () => {
    server.on('/search/users/', () => pageOf([karl]));
    renderDirectory(
      '/directory/people?group=packager&before=2020-04-23&has=github_username',
    );
    const tags = await screen.findByRole('grid', { name: 'Active filters' });
    expect(within(tags).getAllByRole('row')).toHaveLength(3);
    await screen.findByText('Karl Larsson');
    const { query } = searches()[0];
    expect([
      query.getAll('group'),
      query.get('creation__before'),
      query.get('github_username'),
    ]).toEqual([['packager'], '2020-04-23', '*']);

    const [remove] = within(tags).getAllByRole('button');
    await userEvent.click(remove);

    await waitFor(() =>
      expect(searches().at(-1)!.query.has('group')).toBe(false),
    );
  });

  it('shows the searched fields and widens when nothing matches', async () => {
    respondByField({ surname: [karl] });
    renderDirectory('/directory/people?q=larsson');

    expect(await screen.findByText('No people found')).toBeVisible();
    expect(
      screen.getByText(
        /^No match for “larsson” in User name, Name, Nick, GitHub,? or GitLab\.$/,
      ),
    ).toBeVisible();

    await userEvent.click(
      screen.getByRole('button', { name: 'Search all fields' }),
    );
    expect(await screen.findByText('Karl Larsson')).toBeVisible();
  });

  it('shows a table and moves between cards by arrow keys', async () => {
    renderDirectory('/directory/people');
    await screen.findByText('Karl Larsson');

    await userEvent.click(await searchBox());
    await userEvent.keyboard('{ArrowDown}');
    expect(
      screen.getByRole('link', { name: 'Karl Larsson, karl' }),
    ).toHaveFocus();
    await userEvent.keyboard('{ArrowRight}');
    expect(screen.getByRole('link', { name: 'bob' })).toHaveFocus();
    await userEvent.keyboard('{ArrowLeft}{ArrowUp}');
    expect(await searchBox()).toHaveFocus();

    await userEvent.click(screen.getByRole('radio', { name: 'Table' }));
    expect(
      await screen.findByRole('rowheader', { name: /Karl Larsson/ }),
    ).toBeVisible();
  });

  it('shows the results of other fields when one fails', async () => {
    server.on('/search/users/', ({ query }) =>
      query.has('github_username')
        ? failure(504, { message: 'Too slow' })
        : pageOf(query.has('username') ? [karl] : []),
    );
    renderDirectory('/directory/people?q=karl');

    expect(await screen.findByText('Karl Larsson')).toBeVisible();
    expect(screen.getByText('could not be searched')).toBeVisible();
    expect(screen.getByText('At least 1 people')).toBeVisible();
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
