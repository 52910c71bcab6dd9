import { renderInTestApp } from '@backstage/frontend-test-utils';
import {
  type FieldExtensionOptions,
  SecretsContextProvider,
} from '@backstage/plugin-scaffolder-react';
import { Stepper } from '@backstage/plugin-scaffolder-react/alpha';
import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { delay, http, HttpResponse, type JsonBodyType } from 'msw';
import { setupServer } from 'msw/node';
import { groupPicker, userPicker } from './fields';

const BASE = 'http://localhost:7007/api/directory/v1';

const server = setupServer();
let requests: URL[] = [];
let aborted: string[] = [];

beforeAll(() => server.listen({ onUnhandledRequest: 'error' }));
afterAll(() => server.close());
beforeEach(() => {
  requests = [];
  aborted = [];
  respond('/me/', { result: { username: 'alice' } });
  respond('/me/colleagues/', page({ username: 'bob', human_name: 'Bob B' }));
  respond('/users/alice/groups/', page({ groupname: 'packager' }));
});
afterEach(() => {
  server.resetHandlers();
  jest.restoreAllMocks();
});

function respond(
  path: string,
  body: JsonBodyType | ((query: URLSearchParams) => Promise<JsonBodyType>),
  status = 200,
) {
  server.use(
    http.get(`${BASE}${path}`, async ({ request }) => {
      const url = new URL(request.url);
      requests.push(url);
      request.signal.addEventListener('abort', () => aborted.push(url.search));
      return HttpResponse.json(
        typeof body === 'function' ? await body(url.searchParams) : body,
        { status },
      );
    }),
  );
}

function page(...result: { [key: string]: JsonBodyType }[]) {
  return { result, page: 1, page_size: 20, total_results: result.length };
}

/** The type of a form field hides properties that the Scaffolder uses. */
const extensions = [
  userPicker,
  groupPicker,
] as unknown as FieldExtensionOptions<any, any>[];

/**
 * Renders a Scaffolder form with one field and returns its handlers and values.
 */
async function renderForm(
  given: {
    field?: 'DirectoryUserPicker' | 'DirectoryGroupPicker';
    schema?: object;
    value?: string;
    required?: boolean;
  } = {},
) {
  const { field = 'DirectoryUserPicker', schema, value, required } = given;
  const owner = {
    title: 'Owner',
    type: 'string',
    'ui:field': field,
    ...schema,
  };
  const onCreate = jest.fn(async () => {});
  await renderInTestApp(
    <SecretsContextProvider>
      <Stepper
        manifest={{
          title: 'Service',
          steps: [
            {
              title: 'Service',
              schema: {
                type: 'object',
                properties: { owner },
                required: required ? ['owner'] : [],
              },
            },
          ],
        }}
        extensions={extensions}
        initialState={value === undefined ? {} : { owner: value }}
        onCreate={onCreate}
      />
    </SecretsContextProvider>,
    { config: { backend: { baseUrl: 'http://localhost:7007' } } },
  );
  const user = userEvent.setup();
  return {
    user,
    input: screen.getByRole('combobox'),
    create: async () => {
      await user.click(screen.getByRole('button', { name: 'Review' }));
      await user.click(await screen.findByRole('button', { name: 'Create' }));
      await waitFor(() => expect(onCreate).toHaveBeenCalled());
      return onCreate.mock.calls[0];
    },
  };
}

const findOption = (name: string) => screen.findByRole('option', { name });
const searches = () =>
  requests
    .filter(({ pathname }) => pathname.includes('/search/'))
    .map(({ searchParams }) => Object.fromEntries(searchParams));

describe('DirectoryUserPicker', () => {
  it('searches for users and stores an entity reference', async () => {
    respond(
      '/search/users/',
      page(
        { username: 'karl', human_name: 'Karl Larsson' },
        { username: 'k+l', human_name: 'Karla Long' },
      ),
    );
    const { user, input, create } = await renderForm();

    await user.click(input);
    // Pasted at once: with slow typing, the field would search for the first
    // letters.
    await user.paste('karl');
    await findOption('karl Karl Larsson');
    expect(screen.getAllByRole('option')).toHaveLength(2);
    expect(searches()).toEqual([{ q: 'karl', page_size: '20' }]);
    expect(document.body).toHaveTextContent('2 options available.');

    await user.keyboard('{ArrowDown}{ArrowDown}{Enter}');
    expect(screen.queryByRole('listbox')).not.toBeInTheDocument();
    expect(input).toHaveValue('k+l');
    expect(await create()).toEqual([
      { owner: expect.stringMatching(/^user:default\/k-l--[0-9a-f]{16}$/) },
    ]);
  });

  it('shows colleagues before a search, or an empty list without an account', async () => {
    const { user, input } = await renderForm();
    await user.click(input);
    await findOption('bob Bob B');
    await user.type(input, 'ka');
    expect(screen.getAllByRole('option')).toHaveLength(1);

    respond('/me/colleagues/', { message: 'No account', request_id: '' }, 403);
    await user.keyboard('{Escape}{ArrowDown}');
    expect(await screen.findByText('No results found.')).toBeVisible();
    expect(searches()).toEqual([]);
  });

  it('renders the list in the element whose class changes its style', async () => {
    const { user, input } = await renderForm();
    await user.click(input);
    await findOption('bob Bob B');
    expect(document.querySelector('.list')).toContainElement(
      screen.getByRole('listbox'),
    );
  });

  it('aborts the previous search', async () => {
    respond('/search/users/', async query => {
      const text = query.get('q');
      await delay(text === 'karl' ? 'infinite' : 0);
      return page({ username: String(text), human_name: null });
    });
    const { user, input } = await renderForm();
    const ofKarl = (queries: string[]) =>
      queries.filter(query => query.includes('=karl&'));
    await user.type(input, 'karl');
    await waitFor(() =>
      expect(ofKarl(requests.map(({ search }) => search))).toHaveLength(1),
    );
    await user.type(input, 'a');
    await findOption('karla');
    expect(ofKarl(aborted)).toHaveLength(1);
  });

  it('restores the value on Escape, and clears it when the text is cleared', async () => {
    const { user, input, create } = await renderForm({
      value: 'user:default/karl',
    });
    expect(input).toHaveValue('karl');
    await user.click(input);
    for (const keys of ['{Escape}', 'x{Escape}']) {
      await findOption('karl');
      await user.keyboard(keys);
      expect(input).toHaveValue('karl');
      expect(screen.queryByRole('listbox')).not.toBeInTheDocument();
      await user.keyboard('{ArrowDown}');
    }

    await user.clear(input);
    await user.tab();
    expect(input).toHaveValue('');
    expect(await create()).toEqual([{}]);
  });

  it('associates the label, description and error of a required field', async () => {
    jest.spyOn(console, 'error').mockImplementation(); // logged by the form
    const { user, input } = await renderForm({
      schema: { description: 'Owner of the service' },
      required: true,
    });
    expect(input).toHaveAccessibleName('Owner');
    expect(input).toHaveAccessibleDescription('Owner of the service');
    expect(input).toBeRequired();

    await user.click(screen.getByRole('button', { name: 'Review' }));
    await waitFor(() => expect(input).toBeInvalid());
    expect(input).toHaveAccessibleDescription(
      expect.stringContaining("must have required property 'Owner'"),
    );
  });

  it('shows a value of another kind unchanged when disabled', async () => {
    const { input } = await renderForm({
      schema: { 'ui:disabled': true },
      value: 'group:default/karl',
    });
    expect(input).toBeDisabled();
    expect(input).toHaveValue('group:default/karl');
  });

  it('reports an unavailable directory and searches again', async () => {
    const message = 'The directory is unavailable. Try again.';
    respond('/me/colleagues/', { message: 'Not ready', request_id: '' }, 503);
    const { user, input } = await renderForm();
    await user.click(input);
    expect(await findOption(message)).toHaveAttribute('aria-disabled', 'true');
    expect(screen.getByRole('status')).toHaveTextContent(message);
    expect(input).toHaveAccessibleDescription(message);

    respond('/me/colleagues/', page({ username: 'bob', human_name: null }));
    await user.keyboard('{Escape}{ArrowDown}');
    await findOption('bob');
    expect(input).toBeValid();
  });
});

describe('DirectoryGroupPicker', () => {
  it("shows the user's groups, then searches groups in another namespace", async () => {
    const infra = { groupname: 'infra', description: 'Infrastructure' };
    respond('/search/groups/', page(infra));
    const { user, input, create } = await renderForm({
      field: 'DirectoryGroupPicker',
      schema: { 'ui:options': { namespace: 'staff' } },
    });
    await user.click(input);
    await findOption('packager');
    await user.paste('inf');
    await findOption('infra Infrastructure');
    expect(searches()).toEqual([{ q: 'inf', page_size: '20' }]);

    await user.keyboard('{ArrowDown}{Enter}');
    expect(input).toHaveValue('infra');
    expect(await create()).toEqual([{ owner: 'group:staff/infra' }]);
  });
});
