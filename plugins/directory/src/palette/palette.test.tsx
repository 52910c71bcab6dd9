import {
  coreApis,
  createFrontendPlugin,
  createRouteRef,
  PageBlueprint,
  type ToastApi,
} from '@backstage/frontend-plugin-api';
import {
  mockApis,
  registerMswTestHooks,
  renderTestApp,
} from '@backstage/frontend-test-utils';
import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import {
  FakeDirectoryApi,
  failure,
  pageOf,
} from '../__testUtils__/FakeDirectoryApi';
import { karl } from '../__testUtils__/people';
import { pageWithoutSidebar } from '../__testUtils__/renderDirectory';
import { directoryPlugin } from '../plugin';
import { usePalette } from './palette';
import { readShortcut } from './shortcut';

/** Whether the code of the dialog cannot be loaded. */
let mockFails = false;

jest.mock('./PaletteDialog', () => ({
  get PaletteDialog() {
    if (mockFails) {
      throw new Error('Loading chunk 1 failed.');
    }
    return jest.requireActual('./PaletteDialog').PaletteDialog;
  },
}));

const server = new FakeDirectoryApi();
registerMswTestHooks(server.msw);

/** Page with a button that opens the palette. */
function OpenButton() {
  const palette = usePalette();
  return palette ? (
    <button onClick={palette.open} aria-keyshortcuts={palette.shortcut}>
      Open
    </button>
  ) : (
    <p>No palette</p>
  );
}

const portal = createFrontendPlugin({
  pluginId: 'test',
  extensions: [
    PageBlueprint.make({
      params: {
        path: '/start',
        routeRef: createRouteRef(),
        loader: async () => <OpenButton />,
      },
    }),
  ],
});

/** Renders the portal on a page with a button. */
function renderPortal(
  options: {
    shortcut?: string;
    extensions?: { [id: string]: boolean }[];
    toast?: ToastApi;
  } = {},
) {
  const { shortcut, extensions = [], toast } = options;
  return renderTestApp({
    config: {
      app: { title: 'Portal', baseUrl: 'http://localhost', extensions },
      backend: { baseUrl: 'http://localhost:7007' },
      directory: { pages: shortcut ? { paletteShortcut: shortcut } : {} },
    },
    features: [directoryPlugin, pageWithoutSidebar, portal],
    apis: toast && [[coreApis.toast, toast]],
    initialRouteEntries: ['/start'],
  });
}

/** Opens the palette with its shortcut. */
async function openPalette() {
  await (await screen.findByRole('button', { name: 'Open' })).focus();
  await userEvent.keyboard('{Control>}k{/Control}');
  return screen.findByRole('combobox');
}

beforeEach(() => {
  server.requests.length = 0;
  server.on('/search/users/', () => pageOf([]));
  server.on('/search/groups/', () => pageOf([]));
  server.hasPerson(karl);
  server.on('/users/karl/', () => ({ result: karl }));
  server.hasCurrentUser('karl');
  server.allows();
});

describe('command palette', () => {
  // First: the code is loaded only once.
  it('stays available when its code cannot be loaded', async () => {
    const reported = jest.spyOn(console, 'error').mockImplementation();
    const post = jest.fn(() => ({ close: () => {} }));
    mockFails = true;
    renderPortal({ toast: { post } });
    const open = await screen.findByRole('button', { name: 'Open' });
    await userEvent.click(open);
    await waitFor(() =>
      expect(post).toHaveBeenCalledWith({
        title: expect.stringMatching(/^“Find” could not be opened/),
        status: 'danger',
      }),
    );
    expect(open).toBeVisible();

    mockFails = false;
    await userEvent.click(open);
    expect(await screen.findByRole('combobox')).toHaveFocus();
    reported.mockRestore();
  });

  it('opens the first result after loading when Enter is pressed earlier', async () => {
    server.on('/search/users/', () => pageOf([karl]));
    renderPortal();
    await openPalette();
    await userEvent.keyboard('karl{Enter}');
    expect(
      await screen.findByRole('heading', { level: 1, name: 'Karl Larsson' }),
    ).toBeVisible();
  });

  it('restores the focus when Escape closes it', async () => {
    renderPortal();
    await openPalette();
    await userEvent.keyboard('karl{Escape}');
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    await waitFor(() =>
      expect(screen.getByRole('button', { name: 'Open' })).toHaveFocus(),
    );
  });

  it('reports a failed section, and an empty result', async () => {
    server.on('/search/users/', () => failure(503, { message: 'Unavailable' }));
    renderPortal();
    await openPalette();
    await userEvent.keyboard('karl');
    expect(await screen.findByText(/^The people search failed/)).toBeVisible();
    expect(screen.queryByText(/^No results/)).toBeNull();

    server.on('/search/users/', () => pageOf([]));
    await userEvent.keyboard('o');
    expect(await screen.findByText(/^No results/)).toBeVisible();
  });

  it('removes a private key without sending it', async () => {
    renderPortal();
    const field = await openPalette();
    await userEvent.paste(
      '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\n-----END OPENSSH PRIVATE KEY-----',
    );
    expect(
      await screen.findByText(/^This looks like a private key. It was removed/),
    ).toBeVisible();
    expect(field).toHaveValue('');
    expect(server.requests).toEqual([]);
  });

  describe('command palette configuration', () => {
    it('sets the shortcut', async () => {
      renderPortal({ shortcut: 'Alt+Shift+P' });
      const button = await screen.findByRole('button', { name: 'Open' });
      expect(button).toHaveAttribute('aria-keyshortcuts', 'Alt+Shift+P');
      await userEvent.keyboard('{Control>}k{/Control}');
      expect(screen.queryByRole('dialog')).toBeNull();
      await userEvent.keyboard('{Alt>}{Shift>}P{/Shift}{/Alt}');
      expect(await screen.findByRole('dialog', { name: 'Find' })).toBeVisible();
    });

    it.each(['K', 'Shift+K', 'Ctrl', 'Mod+Enter', 'Ctrl+Ctrl'])(
      'rejects the shortcut %s',
      paletteShortcut => {
        const config = mockApis.config({
          data: { directory: { pages: { paletteShortcut } } },
        });
        expect(() => readShortcut(config)).toThrow(
          'directory.pages.paletteShortcut must be',
        );
      },
    );

    it('can disable the palette', async () => {
      renderPortal({
        extensions: [{ 'app-root-element:directory/palette': false }],
      });
      expect(await screen.findByText('No palette')).toBeVisible();
      await userEvent.keyboard('{Control>}k{/Control}');
      expect(screen.queryByRole('dialog')).toBeNull();
    });
  });
});
