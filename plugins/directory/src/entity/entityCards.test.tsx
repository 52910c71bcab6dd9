import type { Entity } from '@backstage/catalog-model';
import {
  registerMswTestHooks,
  renderTestApp,
} from '@backstage/frontend-test-utils';
import {
  catalogApiMock,
  createTestEntityPage,
} from '@backstage/plugin-catalog-react/testUtils';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { screen, waitFor, within } from '@testing-library/react';
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
import { karl } from '../__testUtils__/people';
import { pageWithoutSidebar } from '../__testUtils__/renderDirectory';
import { directoryPlugin } from '../plugin';
import { directoryNameOf, findEntity } from './catalogNames';

const server = new FakeDirectoryApi();
registerMswTestHooks(server.msw);

function entityOf(
  kind: string,
  name: string,
  annotations: Record<string, string> = {},
): Entity {
  return {
    apiVersion: 'backstage.io/v1alpha1',
    kind,
    metadata: { namespace: 'default', name, annotations },
    spec: {},
  };
}

/** Returns a certificate that expires in `days` days. */
function expiring(days: number, given: Partial<Certificate> = {}): Certificate {
  return certificate({ valid_not_after: rfc822(days), ...given });
}

/** Sets karl's certificates. */
function serveCertificates(certificates: Certificate[]) {
  server.on('/users/karl/certificates/', () =>
    exactJson({ ...pageOf([], certificates.length), result: certificates }),
  );
}

function renderEntity(entity: Entity, username: 'entityName' | 'annotation') {
  renderTestApp({
    config: {
      backend: { baseUrl: 'http://localhost:7007' },
      directory: { portalUsers: { namespace: 'default', username } },
    },
    features: [directoryPlugin, pageWithoutSidebar],
    extensions: [createTestEntityPage({ entity })],
  });
}

describe('UserCard', () => {
  it('shows the name and groups with links to the directory', async () => {
    server.on('/users/karl/', () => ({ result: karl }));
    server.on('/users/karl/memberships/', () =>
      pageOf([{ groupname: 'packager' }], 7),
    );
    serveCertificates([]);
    renderEntity(entityOf('User', 'karl'), 'entityName');

    expect(await screen.findByText('Karl Larsson')).toBeVisible();
    expect(screen.getByRole('link', { name: 'packager' })).toHaveAttribute(
      'href',
      '/directory/groups/packager',
    );
    expect(screen.getByText('and 6 more')).toBeVisible();
    expect(
      screen.getByRole('link', { name: 'Open the directory page' }),
    ).toHaveAttribute('href', '/directory/people/karl');
  });

  it('uses the annotation when it is configured', async () => {
    server.on('/users/karl/', () =>
      failure(404, { message: 'User not found' }),
    );
    server.on('/users/karl/memberships/', () =>
      failure(404, { message: 'User not found' }),
    );
    server.on('/users/karl/certificates/', () =>
      failure(404, { message: 'User not found' }),
    );
    renderEntity(
      entityOf('User', 'kl', { 'directory-gateway/username': 'karl' }),
      'annotation',
    );
    await waitFor(
      () =>
        expect(
          screen.getAllByText('User karl is not in the directory.'),
        ).toHaveLength(2), // on both cards
    );
    expect(
      screen.queryByRole('link', { name: 'All certificates' }),
    ).not.toBeInTheDocument();
  });
});

describe('CertificatesCard', () => {
  beforeEach(() => {
    server.on('/users/karl/', () => ({ result: karl }));
    server.on('/users/karl/memberships/', () => pageOf([]));
  });

  it('shows valid certificates sorted by expiry', async () => {
    const next = expiring(10.5, { serial_number: 1n, label: 'laptop' });
    serveCertificates([
      expiring(400, { serial_number: 5n }),
      expiring(300, { serial_number: 4n }),
      expiring(200, { serial_number: LONG_SERIAL }),
      expiring(100, { serial_number: 2n }),
      next,
      expiring(20, { serial_number: 6n, revoked: true }),
      expiring(-1, { serial_number: 7n }),
      expiring(30, { serial_number: 8n, valid_not_before: rfc822(1) }),
    ]);
    renderEntity(entityOf('User', 'karl'), 'entityName');

    await screen.findByRole('link', {
      name: 'laptop · Signing in to servers and websites',
    });
    const lines = screen
      .getAllByRole('listitem')
      .filter(line => /Expires/.test(line.textContent ?? ''));
    expect(
      lines.map(line => within(line).getByRole('link').getAttribute('href')),
    ).toEqual([
      '/directory/certificates/1',
      '/directory/certificates/2',
      `/directory/certificates/${LONG_SERIAL}`,
    ]);
    expect(lines[0]).toHaveTextContent('Expires in 10 days');
    expect(lines[0]).toHaveTextContent('Expires soon');
    expect(lines[1]).toHaveTextContent(/Valid(?! from)/);
    const end = new Date(next.valid_not_after);
    expect(within(lines[0]).getAllByRole('time')[1]).toHaveAttribute(
      'title',
      end.toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'long' }),
    );

    const tab = '/directory/people/karl?tab=certificates';
    for (const name of ['and 2 more', 'All certificates']) {
      expect(screen.getByRole('link', { name })).toHaveAttribute('href', tab);
    }
  });

  it('links to all certificates when none are valid', async () => {
    serveCertificates([expiring(-1)]);
    renderEntity(entityOf('User', 'karl'), 'entityName');
    expect(await screen.findByText('No valid certificates.')).toBeVisible();
    expect(screen.queryByText(/more$/)).not.toBeInTheDocument();
    expect(
      screen.getByRole('link', { name: 'All certificates' }),
    ).toBeVisible();
  });

  it('retries on request', async () => {
    server.on('/users/karl/certificates/', () =>
      failure(503, { message: 'Unavailable' }),
    );
    renderEntity(entityOf('User', 'karl'), 'entityName');
    expect(
      await screen.findByText('The directory is unavailable.'),
    ).toBeVisible();

    serveCertificates([expiring(100, { serial_number: 2n })]);
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    expect(
      await screen.findByRole('link', {
        name: 'Signing in to servers and websites',
      }),
    ).toBeVisible();
  });
});

describe('GroupCard', () => {
  it('shows the size and sponsors', async () => {
    server.on('/groups/packager/', () => ({
      result: { description: 'Package maintainers', member_count: 1234 },
    }));
    server.on('/groups/packager/sponsors/', () => ({ result: [karl] }));
    renderEntity(entityOf('Group', 'packager'), 'entityName');

    expect(
      await screen.findByText(`${(1234).toLocaleString()} members`),
    ).toBeVisible();
    expect(screen.getByRole('link', { name: 'Karl Larsson' })).toHaveAttribute(
      'href',
      '/directory/people/karl',
    );
    expect(
      screen.getByRole('link', { name: 'Open the directory page' }),
    ).toHaveAttribute('href', '/directory/groups/packager');
  });

  it('shows an error when the directory is unavailable', async () => {
    server.on('/groups/:groupname/', () =>
      failure(503, { message: 'Unavailable' }),
    );
    server.on('/groups/:groupname/sponsors/', () => ({ result: [] }));
    renderEntity(entityOf('Group', 'packager'), 'entityName');
    expect(
      await screen.findByText('The directory is unavailable.'),
    ).toBeVisible();
  });
});

describe('directoryNameOf', () => {
  const byName = { namespace: 'default', by: 'entityName' } as const;
  const byAnnotation = { namespace: 'default', by: 'annotation' } as const;
  const annotated = entityOf('Group', 'design', {
    'directory-gateway/groupname': 'design-team',
  });

  it.each([
    [annotated, byName, 'design'],
    [annotated, byAnnotation, 'design-team'],
    [entityOf('User', 'karl'), byAnnotation, undefined],
    [entityOf('Component', 'karl'), byName, undefined],
    [annotated, { ...byName, namespace: 'elsewhere' }, undefined],
  ])('maps %j with mapping %j to %s', (entity, names, expected) => {
    expect(directoryNameOf(entity, names)).toBe(expected);
  });

  it('is the inverse of findEntity', async () => {
    const catalog = catalogApiMock({ entities: [annotated] });
    const find = (
      directoryName: string,
      names: typeof byName | typeof byAnnotation,
    ) => findEntity({ catalog, kind: 'group', directoryName, names });
    const found = { kind: 'Group', namespace: 'default', name: 'design' };

    expect(await find('design', byName)).toEqual(found);
    expect(await find('design-team', byAnnotation)).toEqual(found);
    expect(await find('design-team', byName)).toBeNull();
  });
});
