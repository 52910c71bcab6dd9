import { createFrontendModule } from '@backstage/frontend-plugin-api';
import {
  registerMswTestHooks,
  renderTestApp,
} from '@backstage/frontend-test-utils';
import { type VisitsApi, visitsApiRef } from '@backstage/plugin-home';
import homePlugin from '@backstage/plugin-home/alpha';
import { HomePageLayoutBlueprint } from '@backstage/plugin-home-react/alpha';
import type {
  Certificate,
  Membership,
} from '@directory-gateway/backstage-plugin-directory-common';
import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import {
  certificate,
  exactJson,
  LONG_SERIAL,
  rfc822,
} from '../__testUtils__/certificates';
import {
  FakeDirectoryApi,
  failure,
  pageOf,
} from '../__testUtils__/FakeDirectoryApi';
import { group } from '../__testUtils__/groups';
import { karl, person } from '../__testUtils__/people';
import { pageWithoutSidebar } from '../__testUtils__/renderDirectory';
import type { HistoryChange } from '../history/useHistory';
import { directoryPlugin } from '../plugin';

const server = new FakeDirectoryApi();
registerMswTestHooks(server.msw);

/** Shows the directory widgets one below the other. */
const layout = createFrontendModule({
  pluginId: 'home',
  extensions: [
    HomePageLayoutBlueprint.make({
      params: {
        loader:
          async () =>
          ({ widgets }) => (
            <>
              {widgets
                .filter(({ node }) => /:directory\//.test(node.spec.id))
                .map(({ node, component }) => (
                  <div key={node.spec.id}>{component}</div>
                ))}
            </>
          ),
      },
    }),
  ],
});

function renderHome(visited: readonly string[] = []) {
  const visits: Pick<VisitsApi, 'list'> = {
    list: async () =>
      visited.map(pathname => ({
        id: pathname,
        name: '',
        pathname,
        hits: 1,
        timestamp: 0,
      })),
  };
  renderTestApp({
    config: { backend: { baseUrl: 'http://localhost:7007' } },
    features: [homePlugin, directoryPlugin, layout, pageWithoutSidebar],
    apis: [[visitsApiRef, visits]],
    initialRouteEntries: ['/home'],
  });
}

/** Returns a section by its heading when it contains a text. */
async function section(name: string, text: string | RegExp) {
  const region = await screen.findByRole('region', { name });
  await within(region).findByText(text);
  return region;
}

function membership(
  groupname: string,
  given: Partial<Membership> = {},
): Membership {
  return {
    ...group({ groupname }),
    uri: '',
    direct: true,
    sponsor: false,
    path: [groupname],
    ...given,
  } as Membership;
}

const OTHERS = { name: 'People in your groups', text: 'Karl Larsson' };

beforeEach(() => {
  server.allows('directory.read', 'directory.certificate.sign');
  server.on('/me/colleagues/', () => pageOf([karl]));
  server.on('/users/:username/history/', () =>
    failure(404, { message: 'Histories are not available' }),
  );
});

describe('home page widgets of a member', () => {
  function serveCertificates(...certificates: Certificate[]) {
    server.on('/users/alice/certificates/', () =>
      exactJson({ ...pageOf([]), result: certificates }),
    );
  }

  beforeEach(() => {
    server.hasCurrentUser('alice');
    server.hasPerson(person({ username: 'alice' }), {
      memberships: [
        ...['a', 'b', 'c', 'd', 'e'].map(name => membership(name)),
        membership('packager', { sponsor: true }),
      ],
      sponsored: ['unsung'],
    });
    serveCertificates(certificate({ valid_not_after: rfc822(100) }));
  });

  it('show groups with a link to the rest', async () => {
    renderHome();
    const groups = await section('My groups', 'and 2 more');
    expect(
      within(groups)
        .getAllByRole('link')
        .map(link => link.textContent),
    ).toEqual(['All groups', 'a', 'b', 'c', 'd', 'e', 'and 2 more']);
    expect(
      within(groups).getByRole('link', { name: 'and 2 more' }),
    ).toHaveAttribute('href', '/directory/people/alice');
    expect(screen.queryByText('Recent changes')).not.toBeInTheDocument();
  });

  it('show the latest changes from histories that the user may read', async () => {
    const added: HistoryChange = {
      kind: 'member_added',
      time: '2026-05-06T07:08:09.000Z',
      groupname: 'packager',
      username: 'alice',
    };
    server.on('/users/alice/history/', () =>
      pageOf([
        { kind: 'user_renamed', time: added.time, username: 'alice' },
        added,
      ]),
    );
    server.on('/groups/:groupname/history/', ({ path }) =>
      path.includes('packager')
        ? pageOf([
            {
              ...added,
              kind: 'member_removed',
              time: '2026-05-07T07:08:09.000Z',
              username: 'karl',
            },
            added,
          ])
        : pageOf([]),
    );
    renderHome();

    const groups = await section('My groups', 'Recent changes');
    const [, changes] = within(groups).getAllByRole('list');
    expect(
      within(changes)
        .getAllByRole('listitem')
        .map(item => item.firstChild?.textContent),
    ).toEqual(['karl was removed from packager', 'You were added to packager']);
    expect(
      server.requests
        .map(({ path }) => path)
        .filter(path => /^\/groups\/.*\/history/.test(path)),
    ).toEqual(['/groups/unsung/history/', '/groups/packager/history/']);
  });

  it('show the certificates that need attention', async () => {
    const now = Date.now();
    const serials = async () => {
      const region = await section('My certificates', /Expires soon/);
      return within(region)
        .getAllByRole('listitem')
        .map(item => within(item).getByRole('link').getAttribute('href'));
    };
    const daysAgo = (days: number) =>
      new Date(now - days * 24 * 60 * 60 * 1000).toISOString();
    const one = (serial: bigint, given: Partial<Certificate>) =>
      certificate({
        serial_number: serial,
        sha256_fingerprint: `${serial}`,
        valid_not_after: rfc822(100),
        ...given,
      });
    serveCertificates(
      one(1n, {}),
      one(2n, { valid_not_after: rfc822(10) }),
      one(3n, { revoked: true, revoked_at: daysAgo(3) }),
      one(4n, { revoked: true, revoked_at: daysAgo(30) }),
      one(5n, { revoked: true, revocation_reason: 6 }),
      one(6n, { valid_not_after: rfc822(-30) }),
    );
    renderHome();
    expect(await serials()).toEqual(
      ['2', '5', '3'].map(serial => `/directory/certificates/${serial}`),
    );
  });

  it('offer a request when no certificate is valid', async () => {
    server.allows('directory.read', 'directory.certificate.sign');
    serveCertificates(
      certificate({ revoked: true, revoked_at: new Date().toISOString() }),
    );
    renderHome();
    const region = await section('My certificates', /You have no valid/);
    expect(within(region).getByText('Revoked')).toBeVisible();
    expect(
      await within(region).findByRole('link', {
        name: 'Request a certificate',
      }),
    ).toBeVisible();
  });

  it('report that no certificate needs attention, with a link to the next to expire', async () => {
    renderHome();
    const region = await section(
      'My certificates',
      'No certificates need your attention. The next one expires in 100 days.',
    );
    expect(
      within(region).getByRole('link', {
        name: 'Signing in to servers and websites',
      }),
    ).toHaveAttribute('href', `/directory/certificates/${LONG_SERIAL}`);
  });

  it('show people whose pages were opened, except deleted ones', async () => {
    server.on('/users/karl/', () => ({ result: karl }));
    server.on('/users/former%20user/', () =>
      failure(404, { message: 'User not found' }),
    );
    renderHome(['/directory/people/karl', '/directory/people/former%20user']);
    const recent = await section('Recently visited', 'Karl Larsson');
    expect(within(recent).getAllByRole('listitem')).toHaveLength(1);
  });

  it('keep the other sections when one fails', async () => {
    server.on('/users/alice/memberships/', () =>
      failure(503, { message: 'Unavailable' }),
    );
    renderHome();
    const groups = await section('My groups', 'The directory is unavailable');
    await section(OTHERS.name, OTHERS.text);
    await section('My certificates', /No certificates need/);

    server.on('/users/alice/memberships/', () =>
      pageOf([membership('design')]),
    );
    await userEvent.click(
      within(groups).getByRole('button', { name: 'Try again' }),
    );
    expect(await section('My groups', 'design')).toBeVisible();
  });
});

describe('home page widgets', () => {
  it('show next steps when the user has no groups or certificates', async () => {
    server.hasCurrentUser('erin');
    server.hasPerson(person({ username: 'erin' }));
    server.on('/me/colleagues/', () => pageOf([]));
    renderHome();
    await section('My groups', /You are not a member of any group/);
    await section('Recently visited', /People whose pages you visit/);
    await section(OTHERS.name, /People who share a group/);
    const mine = await section(
      'My certificates',
      'You have no valid certificates from this portal.',
    );
    expect(
      await within(mine).findByRole('link', { name: 'Request a certificate' }),
    ).toHaveAttribute('href', '/directory/certificates/request');
  });

  it('do not show errors to guests', async () => {
    server.hasCurrentUser(undefined);
    server.on('/me/colleagues/', () =>
      failure(403, { message: 'You have no identity in the directory' }),
    );
    renderHome();
    await section(
      'My groups',
      /Your account is not linked to a directory user/,
    );
    await section(
      'My certificates',
      /Your account is not linked to a directory user/,
    );
    await section('Recently visited', /People whose pages you visit/);
    await section(OTHERS.name, /People who share a group/);
    expect(
      screen.queryByRole('button', { name: 'Try again' }),
    ).not.toBeInTheDocument();
  });
});
