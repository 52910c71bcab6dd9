import {
  renderInTestApp,
  registerMswTestHooks,
} from '@backstage/frontend-test-utils';
import type { IdentityApi } from '@backstage/frontend-plugin-api';
import type { JsonObject } from '@backstage/types';
import { act, cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { setupServer } from 'msw/node';
import { useState } from 'react';
import { FakeAuthApi, refusal, session } from '../__testUtils__/FakeAuthApi';
import { signedInApiRef } from '../session/PortalIdentity';
import { KerberosSignInPage } from './KerberosSignInPage';

const firefoxOnLinux =
  'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

describe('KerberosSignInPage', () => {
  const server = setupServer();
  registerMswTestHooks(server);

  beforeEach(() => {
    window.sessionStorage.clear();
    jest.spyOn(navigator, 'userAgent', 'get').mockReturnValue(firefoxOnLinux);
  });

  afterEach(() => {
    jest.restoreAllMocks();
  });

  /** Opens the page and returns the identity after the sign-in. */
  function open(options: {
    kerberos: FakeAuthApi;
    guest?: FakeAuthApi;
    autoSignIn?: boolean;
    realm?: string;
    helpUrl?: string;
    guestConfig?: JsonObject;
  }) {
    const { kerberos, guest, guestConfig } = options;
    const { autoSignIn = true, realm, helpUrl } = options;
    server.use(kerberos.handler());
    if (guest) {
      server.use(guest.handler('guest'));
    }
    const config = {
      app: { title: 'Directory gateway', baseUrl: 'http://localhost' },
      backend: { baseUrl: 'http://localhost' },
      auth: {
        providers: guestConfig ? { guest: guestConfig } : {},
      },
    };
    return new Promise<IdentityApi>(resolve => {
      renderInTestApp(
        <KerberosSignInPage
          autoSignIn={autoSignIn}
          realm={realm}
          helpUrl={helpUrl}
          onSignInSuccess={resolve}
        />,
        { config, apis: [[signedInApiRef, {}]] },
      );
    });
  }

  const expectText = async (text: string | RegExp) =>
    expect(await screen.findByText(text)).toHaveAttribute('role', 'status');
  const tryAgain = () => screen.getByRole('button', { name: 'Try again' });

  it('signs in immediately with a ticket', async () => {
    const kerberos = new FakeAuthApi(session());

    const identity = await open({ kerberos });

    expect(kerberos.requests).toBe(1);
    expect(kerberos.headers.get('X-Requested-With')).toBe('XMLHttpRequest');
    expect(await identity.getProfileInfo()).toEqual({ displayName: 'alice' });
    expect(await identity.getCredentials()).toEqual({
      token: 'token-of-alice',
    });
    expect((await identity.getBackstageIdentity()).userEntityRef).toBe(
      'user:default/alice',
    );
  });

  it('retries when the browser ignores the first challenge', async () => {
    const kerberos = new FakeAuthApi(refusal('no_credentials'), session());

    await open({ kerberos });

    expect(kerberos.requests).toBe(2);
  });

  it('retries twice when the browser does not have a ticket yet', async () => {
    const kerberos = new FakeAuthApi(
      refusal('no_credentials'),
      refusal('no_credentials'),
      session(),
    );

    await open({ kerberos });

    expect(kerberos.requests).toBe(3);
  });

  it('shows both fixes when there is no token, and retries only on request', async () => {
    const kerberos = new FakeAuthApi(refusal('no_credentials'));
    open({ kerberos, realm: 'EXAMPLE.TEST' });

    await expectText('Your browser did not send a Kerberos ticket.');
    expect(
      screen
        .getAllByRole('heading')
        .map(({ tagName, textContent }) => [tagName, textContent]),
    ).toEqual([
      ['H1', 'Directory gateway'],
      ['H2', 'Get a ticket'],
      ['H2', 'Allow Firefox to send the ticket to localhost'],
    ]);
    expect(screen.getByText('kinit your-name@EXAMPLE.TEST')).toBeVisible();
    expect(
      screen.getByText(/network\.negotiate-auth\.trusted-uris/),
    ).toBeVisible();
    expect(kerberos.requests).toBe(3);

    await userEvent.click(tryAgain());
    await expectText('Your browser did not send a Kerberos ticket.');
    expect(kerberos.requests).toBe(6);
    expect(tryAgain()).toHaveFocus();
  });

  it.each([
    ['ntlm_refused', /offered NTLM/, ['kinit']],
    ['unknown_service_key', /for another server/, ['kdestroy; kinit']],
    ['realm_refused', /your realm/, ['kdestroy; kinit']],
    ['malformed_token', /invalid Kerberos token/, ['kdestroy; kinit']],
    ['continuation_required', /supports Negotiate/, ['kdestroy; kinit']],
    ['token_too_large', /larger than the portal accepts/, []],
    [
      'unknown_principal',
      /the portal has no user for your account/,
      ['kdestroy; kinit'],
    ],
    ['account_locked', /is locked/, []],
    ['account_expired', /has expired/, []],
    ['service_principal', /a service or a host/, ['kdestroy; kinit']],
    ['unusable_name', /cannot use/, []],
    ['something_new', 'The server says something_new.', []],
  ])('explains %s and does not retry', async (reason, text, commands) => {
    const kerberos = new FakeAuthApi(refusal(reason));
    open({ kerberos });

    await expectText(text);
    expect(
      screen.queryAllByRole('code').map(({ textContent }) => textContent),
    ).toEqual(commands);
    expect(kerberos.requests).toBe(1);
    expect(tryAgain()).toBeEnabled();
  });

  it('retries twice when a token was replayed', async () => {
    const kerberos = new FakeAuthApi(refusal('replayed'));
    open({ kerberos });

    await expectText(/the same Kerberos token twice\. Try again/);
    expect(screen.queryByRole('code')).not.toBeInTheDocument();
    expect(kerberos.requests).toBe(3);
  });

  it.each([
    [
      -420,
      'Your clock is 7 minutes ahead of the portal’s.',
      'sudo timedatectl set-ntp true',
    ],
    [
      60,
      'Your clock is 1 minute behind the portal’s.',
      'sudo timedatectl set-ntp true',
    ],
    [5, /has expired, or your clock differs/, 'kdestroy; kinit'],
  ])(
    'shows the clock difference when the server is ahead by %i s',
    async (seconds, text, command) => {
      const serverTime = new Date(Date.now() + seconds * 1000);
      open({
        kerberos: new FakeAuthApi(refusal('clock_skew', serverTime)),
      });

      await expectText(text);
      expect(screen.getAllByRole('code')[0]).toHaveTextContent(command);
    },
  );

  describe('when tickets cannot be checked', () => {
    const unavailable = () =>
      HttpResponse.json(
        { message: 'The directory is unavailable.' },
        { status: 503, headers: { 'Retry-After': '2' } },
      );

    it("shows the server's message and retries until it signs in", async () => {
      const kerberos = new FakeAuthApi(unavailable, unavailable, session());
      const identity = open({ kerberos });

      await expectText('The directory is unavailable.');
      expect(screen.getByRole('timer')).toHaveTextContent(/^Retrying in/);
      await waitFor(() => expect(kerberos.requests).toBe(3));
      expect((await identity).signOut).toBeDefined();
    });

    it('does not wait when the user selects the button', async () => {
      const kerberos = new FakeAuthApi(
        () => HttpResponse.json({}, { status: 503 }),
        session(),
      );
      const identity = open({ kerberos });

      await screen.findByText('Retrying in 15 seconds.');
      await userEvent.click(tryAgain());
      expect((await identity).signOut).toBeDefined();
    });

    it('retries with the guest when the guest was selected', async () => {
      const kerberos = new FakeAuthApi(refusal('no_credentials'));
      const guest = new FakeAuthApi(unavailable, session('guest'));
      const identity = open({
        kerberos,
        guest,
        guestConfig: { dangerouslyAllowOutsideDevelopment: true },
      });

      await userEvent.click(
        await screen.findByRole('button', { name: 'Enter as Guest (demo)' }),
      );
      await waitFor(() => expect(guest.requests).toBe(2));
      expect(await (await identity).getProfileInfo()).toEqual({
        displayName: 'guest',
      });
    });

    it('waits for a click when autoSignIn is false', async () => {
      open({ kerberos: new FakeAuthApi(unavailable), autoSignIn: false });

      await userEvent.click(
        await screen.findByRole('button', { name: 'Sign in' }),
      );
      await expectText('The directory is unavailable.');
      expect(screen.queryByRole('timer')).toBeNull();
    });
  });

  it.each([400, 413, 431])(
    'does not retry when a proxy refuses a large ticket with %i',
    async status => {
      const kerberos = new FakeAuthApi(
        () => new HttpResponse('<h1>Header too large</h1>', { status }),
      );
      open({ kerberos });

      await expectText(/^Your ticket is larger than the portal accepts/);
      expect(screen.queryByRole('timer')).toBeNull();
      expect(kerberos.requests).toBe(1);
    },
  );

  it('signs in once when the app passes a new callback on every render', async () => {
    const kerberos = new FakeAuthApi(session());
    const onSignInSuccess = jest.fn();
    let render = () => {};
    function Page() {
      const [renders, setRenders] = useState(0);
      render = () => setRenders(renders + 1);
      return (
        <KerberosSignInPage
          autoSignIn
          onSignInSuccess={identity => {
            onSignInSuccess(identity);
            render();
          }}
        />
      );
    }
    server.use(kerberos.handler());
    renderInTestApp(<Page />, { apis: [[signedInApiRef, {}]] });

    await waitFor(() => expect(onSignInSuccess).toHaveBeenCalled());
    act(() => render());
    await new Promise(resolve => setTimeout(resolve, 100));
    expect(kerberos.requests).toBe(1);
    expect(onSignInSuccess).toHaveBeenCalledTimes(1);
  });

  it('shows an error when the response is not valid', async () => {
    const kerberos = new FakeAuthApi(session());
    open({ kerberos });
    server.use(
      http.get('*/api/auth/kerberos/refresh', () => HttpResponse.error()),
    );
    await expectText(/could not be reached/);

    server.use(
      http.get('*/api/auth/kerberos/refresh', () => new HttpResponse('<html>')),
    );
    await userEvent.click(tryAgain());
    await expectText(/cannot check tickets/);
    expect(tryAgain()).toBeEnabled();
  });

  it('waits for a click when autoSignIn is false', async () => {
    const kerberos = new FakeAuthApi(session());
    const identity = open({ kerberos, autoSignIn: false });

    await expectText('You can sign in with your Kerberos ticket.');
    expect(kerberos.requests).toBe(0);
    await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
    await identity;
    expect(kerberos.requests).toBe(1);
  });

  it('stays signed out until the user signs in again', async () => {
    const kerberos = new FakeAuthApi(session());
    const identity = await open({ kerberos });
    await identity.signOut();
    // The app reloads the page after a sign-out.
    cleanup();

    const again = open({ kerberos });
    await expectText(/You have signed out/);
    expect(kerberos.requests).toBe(1);
    await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
    await again;
    expect(kerberos.requests).toBe(2);
  });

  it('ends the session and shows the reason when the account is locked', async () => {
    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    // jsdom cannot reload a page and reports an error here.
    const reported = jest.spyOn(console, 'error').mockImplementation();
    const kerberos = new FakeAuthApi(session(), refusal('account_locked'));
    const identity = await open({ kerberos });

    now += 59 * 60_000; // the token is valid for another minute
    await expect(identity.getCredentials()).rejects.toThrow('account_locked');
    expect(reported.mock.calls.flat().join()).toContain('navigation');
    cleanup();

    open({ kerberos, autoSignIn: false });
    await expectText(/Your account is locked/);
    expect(kerberos.requests).toBe(2);
  });

  it('offers guest sign-in when it is enabled', async () => {
    const kerberos = new FakeAuthApi(refusal('no_credentials'));
    const guest = new FakeAuthApi(session('alice'));
    const options = {
      kerberos,
      guest,
      guestConfig: {
        userEntityRef: 'user:default/alice',
        dangerouslyAllowOutsideDevelopment: true,
      },
    };
    const identity = open(options);

    await userEvent.click(
      await screen.findByRole('button', { name: 'Enter as Alice (demo)' }),
    );

    expect((await (await identity).getBackstageIdentity()).userEntityRef).toBe(
      'user:default/alice',
    );
    expect(guest.requests).toBe(1);

    // Reloads the page.
    cleanup();
    const { requests } = kerberos;
    await (await open(options)).signOut();
    expect([guest.requests, kerberos.requests]).toEqual([2, requests]);
    cleanup();
    open(options);
    await expectText(/signed out/);
  });

  it('hides guest sign-in when it is disabled, and shows the help link', async () => {
    open({
      kerberos: new FakeAuthApi(refusal('account_locked')),
      guestConfig: {},
      helpUrl: 'https://help.example.org/sign-in',
    });

    await expectText(/is locked/);
    expect(screen.queryByRole('button', { name: /demo/ })).toBeNull();
    expect(screen.getByRole('link', { name: 'More help' })).toHaveAttribute(
      'href',
      'https://help.example.org/sign-in',
    );
  });

  it('copies a command and reports a failure to copy', async () => {
    const user = userEvent.setup();
    const writeText = jest.spyOn(navigator.clipboard, 'writeText');
    open({ kerberos: new FakeAuthApi(refusal('ntlm_refused')) });

    await user.click(await screen.findByRole('button', { name: 'Copy' }));
    expect(writeText).toHaveBeenCalledWith('kinit');
    const copied = await screen.findByRole('button', { name: 'Copied' });
    expect(copied).toHaveFocus();

    writeText.mockRejectedValue(new Error('no permission'));
    await user.click(copied);
    expect(
      await screen.findByRole('button', { name: 'Could not copy' }),
    ).toBeVisible();
  });
});
