import { registerMswTestHooks } from '@backstage/frontend-test-utils';
import type { Membership } from '@directory-gateway/backstage-plugin-directory-common';
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse } from 'msw';
import { webcrypto } from 'node:crypto';
import {
  FakeDirectoryApi,
  failure,
  pageOf,
} from '../__testUtils__/FakeDirectoryApi';
import { karl, SCRIPT_URL } from '../__testUtils__/people';
import { renderDirectory } from '../__testUtils__/renderDirectory';

const server = new FakeDirectoryApi();
registerMswTestHooks(server.msw);

function membership(
  groupname: string,
  given: Partial<Membership> = {},
): Membership {
  return {
    groupname,
    description: `About ${groupname}`,
    mailing_list: null,
    url: null,
    irc: null,
    discussion_url: null,
    uri: `http://localhost:7007/api/directory/v1/groups/${groupname}/`,
    direct: true,
    sponsor: false,
    path: [groupname],
    ...given,
  };
}

const memberships = [
  membership('packager', {
    direct: false,
    path: ['infra-team', null, 'packager'],
  }),
  membership('infra-team', { sponsor: true }),
];

const tab = (name: RegExp) => screen.findByRole('tab', { name });

beforeAll(() => {
  // jsdom has no Web Crypto.
  Object.defineProperty(globalThis.crypto, 'subtle', {
    value: webcrypto.subtle,
    configurable: true,
  });
});

beforeEach(() => server.hasCurrentUser('alice'));

afterEach(() => jest.restoreAllMocks());

describe('PersonPage', () => {
  it('shows the name, local time and contact links', async () => {
    server.hasPerson(karl);
    renderDirectory('/directory/people/karl');

    expect(
      await screen.findByRole('heading', { level: 2, name: 'Karl Larsson' }),
    ).toBeVisible();
    expect(screen.getByRole('heading', { level: 1 })).toHaveTextContent(
      'Karl Larsson',
    );
    expect(document.title).toBe('Karl Larsson · Portal');
    expect(screen.getByText('he/him')).toBeVisible();
    const time = screen.getByTitle<HTMLTimeElement>(
      /^Kolkata, .+ working hours; 5 hours 30 minutes ahead of your time$/,
    );
    expect(time).toHaveTextContent(/^It is .+ in Kolkata \(\+5h 30m\)$/);
    expect(time.textContent).toContain(
      new Date(time.dateTime).toLocaleTimeString('en-US', {
        timeZone: 'Asia/Kolkata',
        timeStyle: 'short',
      }),
    );
    expect(screen.getByText('Matrix')).toBeVisible();
    expect(
      screen.getByRole('button', { name: 'Copy Matrix ID @karl:example.test' }),
    ).toBeEnabled();
    const contacts = screen.getByRole('list', { name: 'Contact' });
    expect(
      within(contacts)
        .getAllByRole('link')
        .map(link => link.getAttribute('href')),
    ).toEqual([
      'mailto:karl@example.test',
      'https://matrix.to/#/%40karl%3Aexample.test',
      'irc://irc.libera.chat/karlp,isnick',
      'https://github.com/karlp',
      'https://karl.example.test/',
    ]);
    expect(screen.getByRole('link', { name: 'Message' })).toHaveAttribute(
      'href',
      'mailto:karl@example.test',
    );
    // Unsafe URLs are shown as text.
    expect(within(contacts).getByText(SCRIPT_URL)).toBeVisible();
    expect(screen.queryByText('Your profile')).toBeNull();
  });

  it('isolates the direction of a malicious name and shows its control characters', async () => {
    server.hasPerson({
      ...karl,
      human_name: 'Karl\u202enossraL',
      pronouns: ['he\u2067', 'him\u200b'],
      websites: ['https://example.test@evil.test/\u202e'],
    });
    renderDirectory('/directory/people/karl');

    const name = await screen.findByRole('heading', {
      level: 2,
      name: 'KarlU+202EnossraL',
    });
    expect(name.querySelector('bdi')).toHaveTextContent('KarlU+202EnossraL');
    expect(document.title).toBe('Karl[U+202E]nossraL · Portal');
    const contacts = screen.getByRole('list', { name: 'Contact' });
    expect(
      within(contacts).getByRole('link', { name: 'evil.test/%E2%80%AE' }),
    ).toBeVisible();
    // This includes labels, tooltips and tabs.
    await tab(/^Groups 0/);
    expect(document.documentElement.outerHTML).not.toMatch(
      /[\u200b\u202a-\u202e\u2066-\u2069]/,
    );
  });

  it('shows direct groups first, and the path of inherited ones', async () => {
    server.hasPerson(karl, { memberships, sponsored: ['infra-team', 'docs'] });
    renderDirectory('/directory/people/karl');

    expect(await tab(/^Groups 2/)).toHaveAttribute('aria-selected', 'true');
    const rows = screen.getAllByRole('listitem');
    const named = (name: string) =>
      rows.findIndex(row => row.textContent?.startsWith(name));
    expect(named('infra-team')).toBeLessThan(named('packager'));
    expect(rows[named('infra-team')]).toHaveTextContent('Sponsor');
    expect(rows[named('packager')]).toHaveTextContent('Inherited');
    expect(
      screen.getByRole('heading', { name: 'Sponsor, not a member' })
        .parentElement,
    ).toHaveTextContent(/docs$/);

    await userEvent.click(
      screen.getByRole('button', {
        name: 'Show why Karl Larsson is in packager',
      }),
    );
    const path = await screen.findByRole('dialog');
    expect(
      within(path)
        .getAllByRole('listitem')
        .map(step => step.textContent),
    ).toEqual(['Karl Larsson', 'infra-team', 'Hidden group', 'packager']);
  });

  it('filters groups by name and description', async () => {
    server.hasPerson(karl, { memberships });
    renderDirectory('/directory/people/karl');
    await userEvent.type(
      await screen.findByRole('searchbox', { name: 'Filter groups' }),
      'about pack',
    );
    expect(screen.getByRole('link', { name: 'packager' })).toBeVisible();
    expect(screen.queryByRole('link', { name: 'infra-team' })).toBeNull();

    await userEvent.keyboard('zzz');
    expect(screen.getByText('No group matches “about packzzz”')).toBeVisible();
    await userEvent.click(screen.getByRole('button', { name: 'Clear filter' }));
    expect(screen.getByRole('link', { name: 'infra-team' })).toBeVisible();
  });

  it('shows the fingerprints of keys, and that the account is locked', async () => {
    server.hasPerson({ ...karl, locked: true });
    renderDirectory('/directory/people/karl?tab=keys');

    expect(await tab(/^Keys 2/)).toHaveAttribute('aria-selected', 'true');
    // as printed by ssh-keygen -lf
    expect(
      await screen.findByText(
        'SHA256:4hXFlZjwTr/iSzwWdCOSiJJt1LBXrj3vQfZbWW2d88A',
      ),
    ).toBeVisible();
    expect(screen.getByText('256 bits')).toBeVisible();
    expect(screen.getByText('Locked')).toBeVisible();
    expect(screen.queryByRole('link', { name: 'Message' })).toBeNull();
    expect(screen.getByText('0123 4567 89AB CDEF')).toBeVisible();
  });

  it('shows users their own membership history', async () => {
    server.hasCurrentUser('karl');
    server.hasPerson(karl);
    const time = '2026-05-06T07:08:09.000Z';
    const change = { time, username: 'karl' };
    server.on('/users/karl/history/', () =>
      pageOf([
        { ...change, kind: 'member_removed', groupname: 'infra' },
        { ...change, kind: 'user_renamed', old_username: 'carl' },
        { ...change, kind: 'member_added', groupname: 'packager' },
        { ...change, kind: 'user_created' },
      ]),
    );
    renderDirectory('/directory/people/karl?tab=history');

    const panel = await screen.findByRole('tabpanel', { name: /^History 4/ });
    const day = new Date(time).toLocaleString(undefined, {
      dateStyle: 'medium',
      timeStyle: 'short',
    });
    expect(
      within(panel)
        .getAllByRole('listitem')
        .map(row => row.textContent),
    ).toEqual([
      `Removed from infra${day}`,
      `Renamed from carl${day}`,
      `Added to packager${day}`,
      `Account created${day}`,
    ]);
    expect(
      within(panel).getByRole('link', { name: 'packager' }),
    ).toHaveAttribute('href', '/directory/groups/packager');
  });

  it.each([
    ['other users', 'alice', 200],
    ['the user when histories are off', 'karl', 404],
  ])('hides the history from %s', async (_who, user, status) => {
    server.hasCurrentUser(user);
    server.hasPerson(karl);
    server.on('/users/karl/history/', () =>
      status === 200 ? pageOf([]) : failure(status, { message: 'None' }),
    );
    renderDirectory('/directory/people/karl?tab=history');

    expect(await tab(/^Agreements 0/)).toBeVisible();
    await waitFor(() =>
      expect(screen.queryByRole('tab', { name: /^History/ })).toBeNull(),
    );
  });

  it('shows certificates with their states, and agreements', async () => {
    const certificate = (serial_number: bigint, ends: number) => ({
      issued_here: serial_number === 6n ? null : serial_number !== 5n,
      subject: 'CN=karl,O=EXAMPLE.TEST',
      issuer: 'CN=CA',
      serial_number,
      serial_number_hex: `0x${serial_number.toString(16).toUpperCase()}`,
      revoked: serial_number === 3n,
      valid_not_before: 'Wed, 01 Jan 2020 00:00:00 -0000',
      valid_not_after: new Date(ends).toUTCString().replace('GMT', '-0000'),
    });
    const day = 86_400_000;
    server.hasPerson(karl, {
      agreements: ['FPCA'],
      certificates: [
        certificate(1n, Date.now() + 400 * day),
        certificate(2n, Date.now() + 10.5 * day),
        certificate(3n, Date.now() + 400 * day),
        certificate(4n, Date.now() - day),
        certificate(5n, Date.now() + 400 * day),
        certificate(6n, Date.now() + 400 * day),
      ],
    });
    renderDirectory('/directory/people/karl?tab=certificates');

    await tab(/^Certificates 6/);
    const rows = screen
      .getAllByRole('listitem')
      .filter(row => /^Any purpose/.test(row.textContent ?? ''));
    expect(
      rows.map(
        row =>
          row.textContent?.match(
            /Valid(?! from)|Expires soon|Revoked|External|Not checked|Expired/,
          )?.[0],
      ),
    ).toEqual([
      'Expires soon',
      'Valid',
      'Not checked',
      'Revoked',
      'External',
      'Expired',
    ]);
    expect(rows[4]).toHaveTextContent('The owner may have added it');
    expect(within(rows[4]).queryByRole('link')).toBeNull();
    expect(rows[0]).toHaveTextContent('Expires in 10 days');

    await userEvent.click(await tab(/^Agreements 1/));
    expect(await screen.findByText('FPCA')).toBeVisible();
  });

  it('shows the profile as others see it and an edit link to its owner', async () => {
    server.hasCurrentUser('karl');
    server.hasPerson({ ...karl, is_private: true });
    server.hides('human_name', 'pronouns');
    renderDirectory('/directory/people/karl', {
      editProfileUrl: 'https://accounts.example.test/{username}/edit',
    });

    expect(
      await screen.findByRole('link', { name: /Edit your profile/ }),
    ).toHaveAttribute('href', 'https://accounts.example.test/karl/edit');
    expect(screen.queryByText('This profile is private')).toBeNull();

    const asOthers = screen.getByRole('switch', {
      name: 'View as others see it',
    });
    await waitFor(() => expect(asOthers).toBeEnabled());
    await userEvent.click(asOthers);
    expect(screen.getByText('This profile is private')).toBeVisible();
    expect(screen.queryByText('he/him')).toBeNull();
    expect(screen.queryByText('Karl Larsson')).toBeNull();
    expect(screen.getByText('karl@example.test')).toBeVisible();
  });

  it('offers a search when the user does not exist', async () => {
    server.on('/users/nobody/', () =>
      failure(404, { message: 'User not found' }),
    );
    renderDirectory('/directory/people/nobody');

    expect(
      await screen.findByRole('heading', {
        name: 'User nobody not found',
      }),
    ).toBeVisible();
    expect(
      screen.getByRole('link', { name: 'Search for nobody' }),
    ).toHaveAttribute('href', '/directory/people?q=nobody');
  });

  it('keeps showing data when the directory becomes unavailable', async () => {
    server.hasPerson(karl, { memberships });
    renderDirectory('/directory/people/karl');
    await screen.findByRole('link', { name: 'packager' });

    server.on('/users/karl/', () =>
      failure(503, { message: 'Unavailable' }, { 'Retry-After': '60' }),
    );
    // The user returns to the tab after an hour.
    const hourLater = Date.now() + 3_600_000;
    jest.spyOn(Date, 'now').mockImplementation(() => hourLater);
    window.dispatchEvent(new Event('visibilitychange'));

    expect(
      await screen.findByText('The directory is unavailable'),
    ).toBeVisible();
    expect(screen.getByText(/Last updated at/)).toHaveTextContent(
      'Retrying in 60 seconds.',
    );
    expect(screen.getByText('karl@example.test')).toBeVisible();
    expect(screen.getByRole('link', { name: 'packager' })).toBeVisible();

    server.on('/users/karl/', () => ({ result: karl }));
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    await waitFor(() =>
      expect(screen.queryByText('The directory is unavailable')).toBeNull(),
    );
  });

  it('shows no time for an unknown time zone', async () => {
    server.hasPerson({ ...karl, timezone: 'Mars/Olympus_Mons' });
    renderDirectory('/directory/people/karl');
    const heading = await screen.findByRole('heading', {
      level: 2,
      name: 'Karl Larsson',
    });
    // Only the avatar and the names are above "Message".
    expect(heading.parentElement!.parentElement!.nextElementSibling).toBe(
      screen.getByRole('link', { name: 'Message' }),
    );
  });

  it('signs in again when the session has ended', async () => {
    server.on('/users/karl/', () =>
      HttpResponse.json(
        { error: { message: 'Illegal token' } },
        { status: 401 },
      ),
    );
    renderDirectory('/directory/people/karl');
    expect(await screen.findByText('Your session has ended')).toBeVisible();
    expect(screen.queryByText(/Illegal token|Retrying/)).toBeNull();

    server.on('/users/karl/', () => ({ result: karl }));
    await userEvent.click(
      screen.getByRole('button', { name: 'Sign in again' }),
    );
    expect(
      await screen.findByRole('heading', { level: 1, name: 'Karl Larsson' }),
    ).toBeVisible();
    // The button, which had the focus, is gone.
    expect(screen.getByRole('main')).toHaveFocus();
  });

  it.each([
    ['unknown_principal', 'You do not have an account in the directory'],
    ['account_locked', 'Your account is locked'],
    ['account_expired', 'Your account has expired'],
  ] as const)(
    'explains a rejection with the reason %s',
    async (reason, title) => {
      server.on('/users/karl/', () =>
        failure(401, { message: 'Unauthorized.', reason }),
      );
      renderDirectory('/directory/people/karl');
      expect(await screen.findByText(title)).toBeVisible();
    },
  );
});
