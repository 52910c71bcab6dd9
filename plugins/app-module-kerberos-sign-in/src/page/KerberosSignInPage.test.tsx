import {
  renderInTestApp,
  registerMswTestHooks,
} from '@backstage/frontend-test-utils';
import type { IdentityApi } from '@backstage/frontend-plugin-api';
import type { JsonObject } from '@backstage/types';
import { cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { setupServer } from 'msw/node';
import {
  KerberosServer,
  refusal,
  session,
} from '../__testUtils__/KerberosServer';
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

  /** Opens the page; resolves the identity that it hands over. */
  function open(options: {
    kerberos: KerberosServer;
    guest?: KerberosServer;
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
        { config },
      );
    });
  }

  const sentence = async (text: string | RegExp) =>
    expect(await screen.findByText(text)).toHaveAttribute('role', 'status');
  const tryAgain = () => screen.getByRole('button', { name: 'Try again' });

  it('lets in at once who has a ticket', async () => {
    const kerberos = new KerberosServer(session());

    const identity = await open({ kerberos });

    expect(kerberos.asked).toBe(1);
    expect(kerberos.headers.get('X-Requested-With')).toBe('XMLHttpRequest');
    expect(await identity.getProfileInfo()).toEqual({ displayName: 'alice' });
    expect(await identity.getCredentials()).toEqual({
      token: 'token-of-alice',
    });
    expect((await identity.getBackstageIdentity()).userEntityRef).toBe(
      'user:default/alice',
    );
  });

  it('asks once more when the first challenge came to nothing', async () => {
    const kerberos = new KerberosServer(refusal('no_credentials'), session());

    await open({ kerberos });

    expect(kerberos.asked).toBe(2);
  });

  it('gives a browser that is slow to find its tickets a third chance', async () => {
    const kerberos = new KerberosServer(
      refusal('no_credentials'),
      refusal('no_credentials'),
      session(),
    );

    await open({ kerberos });

    expect(kerberos.asked).toBe(3);
  });

  it('tells both fixes for want of a token, and asks again only when told to', async () => {
    const kerberos = new KerberosServer(refusal('no_credentials'));
    open({ kerberos, realm: 'EXAMPLE.TEST' });

    await sentence('Your browser sent no Kerberos ticket.');
    expect(
      screen
        .getAllByRole('heading')
        .map(({ tagName, textContent }) => [tagName, textContent]),
    ).toEqual([
      ['H1', 'Directory gateway'],
      ['H2', 'Get a ticket'],
      ['H2', 'Let Firefox send it to localhost'],
    ]);
    expect(screen.getByText('kinit your-name@EXAMPLE.TEST')).toBeVisible();
    expect(
      screen.getByText(/network\.negotiate-auth\.trusted-uris/),
    ).toBeVisible();
    expect(kerberos.asked).toBe(3);

    await userEvent.click(tryAgain());
    await sentence('Your browser sent no Kerberos ticket.');
    expect(kerberos.asked).toBe(6);
    expect(tryAgain()).toHaveFocus();
  });

  it.each([
    ['ntlm_refused', /offered NTLM/, ['kinit']],
    ['unknown_service_key', /made for another server/, ['kdestroy; kinit']],
    ['realm_refused', /your realm/, ['kdestroy; kinit']],
    ['malformed_token', /no Kerberos ticket/, ['kdestroy; kinit']],
    ['continuation_required', /wants to negotiate/, ['kdestroy; kinit']],
    ['token_too_large', /larger than the portal accepts/, []],
    ['unknown_principal', /does not know you/, ['kdestroy; kinit']],
    ['account_locked', /is locked/, []],
    ['account_expired', /has expired/, []],
    ['service_principal', /a service or a host/, ['kdestroy; kinit']],
    ['unusable_name', /cannot use/, []],
    ['something_new', 'The server says something_new.', []],
  ])('explains %s and asks once', async (reason, text, commands) => {
    const kerberos = new KerberosServer(refusal(reason));
    open({ kerberos });

    await sentence(text);
    expect(
      screen.queryAllByRole('code').map(({ textContent }) => textContent),
    ).toEqual(commands);
    expect(kerberos.asked).toBe(1);
    expect(tryAgain()).toBeEnabled();
  });

  it('asks twice more about a ticket that was used before', async () => {
    const kerberos = new KerberosServer(refusal('replayed'));
    open({ kerberos });

    await sentence(/used before/);
    expect(kerberos.asked).toBe(3);
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
    [5, /it has expired, or a clock is wrong/, 'kdestroy; kinit'],
  ])(
    'compares the clocks when the server’s is off by %i s',
    async (seconds, text, command) => {
      const serverTime = new Date(Date.now() + seconds * 1000);
      open({
        kerberos: new KerberosServer(refusal('clock_skew', serverTime)),
      });

      await sentence(text);
      expect(screen.getAllByRole('code')[0]).toHaveTextContent(command);
    },
  );

  it('says that the server cannot tell, in its own words', async () => {
    const kerberos = new KerberosServer(
      () =>
        HttpResponse.json(
          { message: 'The directory is away.' },
          { status: 503 },
        ),
      session(),
    );
    const identity = open({ kerberos });

    await sentence('The directory is away.');
    await userEvent.click(tryAgain());
    expect((await identity).signOut).toBeDefined();
  });

  it('says that there was no answer, or none that means anything', async () => {
    const kerberos = new KerberosServer(session());
    open({ kerberos });
    server.use(
      http.get('*/api/auth/kerberos/refresh', () => HttpResponse.error()),
    );
    await sentence(/did not answer/);

    server.use(
      http.get('*/api/auth/kerberos/refresh', () => new HttpResponse('<html>')),
    );
    await userEvent.click(tryAgain());
    await sentence(/cannot check tickets/);
    expect(tryAgain()).toBeEnabled();
  });

  it('waits for a click where the site says so', async () => {
    const kerberos = new KerberosServer(session());
    const identity = open({ kerberos, autoSignIn: false });

    await sentence('Your Kerberos ticket lets you in.');
    expect(kerberos.asked).toBe(0);
    await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
    await identity;
    expect(kerberos.asked).toBe(1);
  });

  it('keeps out who signed out, until they want in again', async () => {
    const kerberos = new KerberosServer(session());
    const identity = await open({ kerberos });
    await identity.signOut();
    // The app leaves its page and loads anew.
    cleanup();

    const again = open({ kerberos });
    await sentence(/You have signed out/);
    expect(kerberos.asked).toBe(1);
    await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
    await again;
    expect(kerberos.asked).toBe(2);
  });

  it('ends a session whose account is locked, and says why', async () => {
    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    // jsdom cannot reload; it reports so there.
    const reported = jest.spyOn(console, 'error').mockImplementation();
    const kerberos = new KerberosServer(session(), refusal('account_locked'));
    const identity = await open({ kerberos });

    now += 59 * 60_000; // the token is valid for another minute
    await expect(identity.getCredentials()).rejects.toThrow('account_locked');
    expect(reported.mock.calls.flat().join()).toContain('navigation');
    cleanup();

    open({ kerberos, autoSignIn: false });
    await sentence(/Your account is locked/);
    expect(kerberos.asked).toBe(2);
  });

  it('offers the guest where there is one', async () => {
    const guest = new KerberosServer(session('alice'));
    const identity = open({
      kerberos: new KerberosServer(refusal('no_credentials')),
      guest,
      guestConfig: {
        userEntityRef: 'user:default/alice',
        dangerouslyAllowOutsideDevelopment: true,
      },
    });

    await userEvent.click(
      await screen.findByRole('button', { name: 'Enter as Alice (demo)' }),
    );

    expect((await (await identity).getBackstageIdentity()).userEntityRef).toBe(
      'user:default/alice',
    );
    expect(guest.asked).toBe(1);
  });

  it('offers no guest whom the server would refuse, and the site’s help', async () => {
    open({
      kerberos: new KerberosServer(refusal('account_locked')),
      guestConfig: {},
      helpUrl: 'https://help.example.org/sign-in',
    });

    await sentence(/is locked/);
    expect(screen.queryByRole('button', { name: /demo/ })).toBeNull();
    expect(screen.getByRole('link', { name: 'More help' })).toHaveAttribute(
      'href',
      'https://help.example.org/sign-in',
    );
  });

  it('puts what to type on the clipboard, and says when it cannot', async () => {
    const user = userEvent.setup();
    const writeText = jest.spyOn(navigator.clipboard, 'writeText');
    open({ kerberos: new KerberosServer(refusal('ntlm_refused')) });

    await user.click(await screen.findByRole('button', { name: 'Copy' }));
    expect(writeText).toHaveBeenCalledWith('kinit');
    expect(await screen.findByRole('button', { name: 'Copied' })).toHaveFocus();

    writeText.mockRejectedValue(new Error('no permission'));
    await user.click(screen.getByRole('button', { name: 'Copied' }));
    expect(
      await screen.findByRole('button', { name: 'Not copied' }),
    ).toBeVisible();
  });
});
