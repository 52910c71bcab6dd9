import { renderTestApp } from '@backstage/frontend-test-utils';
import { cleanup, screen, waitFor } from '@testing-library/react';
import { directoryPlugin } from './plugin';

/** Opens a page of the plugin whose code cannot be loaded. */
function openPage(error: Error) {
  const page = directoryPlugin.getExtension('page:directory/people');
  renderTestApp({
    features: [
      directoryPlugin.withOverrides({
        extensions: [
          page.override({ params: { loader: () => Promise.reject(error) } }),
        ],
      }),
    ],
    initialRouteEntries: ['/directory/people'],
  });
}

const outdated = () =>
  Object.assign(new Error('Loading chunk 1 failed.'), {
    name: 'ChunkLoadError',
  });
const button = (name: string) => screen.findByRole('button', { name });

describe('load errors', () => {
  /** Errors on the console; jsdom reports a reload here. */
  let reported: jest.SpyInstance;
  const reloads = () =>
    reported.mock.calls.filter(
      ([error]) => typeof error === 'string' && /navigation/.test(error),
    );
  const realFetch = globalThis.fetch;

  beforeEach(() => {
    sessionStorage.clear();
    document.head.innerHTML = '<script defer src="/static/main.1.js">';
    reported = jest.spyOn(console, 'error').mockImplementation();
    globalThis.fetch = jest.fn(async () => ({ ok: true }) as Response);
  });

  afterEach(() => {
    jest.restoreAllMocks();
    globalThis.fetch = realFetch;
  });

  it('reloads an outdated portal once for each version', async () => {
    openPage(outdated());
    expect(await screen.findByRole('alert')).toHaveTextContent(
      /^This content could not be loadedThe portal was updated/,
    );
    expect(await button('Reload')).toBeEnabled();
    await waitFor(() => expect(reloads()).toHaveLength(1));
    cleanup();

    openPage(outdated());
    await button('Reload');
    await new Promise(resolve => setTimeout(resolve));
    expect(reloads()).toHaveLength(1);
    cleanup();

    document.head.innerHTML = '<script defer src="/static/main.2.js">';
    openPage(outdated());
    await waitFor(() => expect(reloads()).toHaveLength(2));
    cleanup();

    // Another instance still serves the first version.
    document.head.innerHTML = '<script defer src="/static/main.1.js">';
    openPage(outdated());
    await button('Reload');
    await new Promise(resolve => setTimeout(resolve));
    expect(reloads()).toHaveLength(2);
  });

  it('does not reload a page with unsaved input', async () => {
    const keep = (event: Event) => event.preventDefault();
    window.addEventListener('beforeunload', keep);
    openPage(outdated());
    await button('Reload');
    await new Promise(resolve => setTimeout(resolve));
    window.removeEventListener('beforeunload', keep);
    expect(reloads()).toHaveLength(0);
  });

  it('does not reload while a proxy returns an error', async () => {
    const fetch = jest.mocked(globalThis.fetch);
    fetch.mockResolvedValue({ ok: false } as Response);
    openPage(outdated());
    await button('Reload');
    await waitFor(() => expect(fetch).toHaveBeenCalled());
    await new Promise(resolve => setTimeout(resolve));
    expect(reloads()).toHaveLength(0);
    expect(sessionStorage).toHaveLength(0);
  });

  it('reloads when styles cannot be loaded', async () => {
    openPage(
      Object.assign(new Error('Loading CSS chunk 1 failed.'), {
        code: 'CSS_CHUNK_LOAD_FAILED',
      }),
    );
    await button('Reload');
    await waitFor(() => expect(reloads()).toHaveLength(1));
  });

  it('waits for a click when the server cannot be reached', async () => {
    const fetch = jest.mocked(globalThis.fetch);
    fetch.mockRejectedValue(new TypeError('Failed to fetch'));
    openPage(outdated());
    (await button('Reload')).click();
    expect(reloads()).toHaveLength(1); // by the click
    await waitFor(() => expect(fetch).toHaveBeenCalled());
    expect(reloads()).toHaveLength(1);
    expect(sessionStorage).toHaveLength(0);
  });

  it('leaves other errors to the portal', async () => {
    openPage(new Error('A fault in the page'));
    expect(await button('Retry')).toBeEnabled();
    expect(screen.getAllByText(/A fault in the page/).length).toBeGreaterThan(
      0,
    );
    expect(reloads()).toHaveLength(0);
  });
});
