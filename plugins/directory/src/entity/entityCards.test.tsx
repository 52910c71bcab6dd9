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
  aCertificate,
  exactJson,
  LONG_SERIAL,
  rfc822,
} from '../__testUtils__/certificates';
import {
  DirectoryServer,
  failure,
  pageOf,
} from '../__testUtils__/DirectoryServer';
import { karl } from '../__testUtils__/people';
import { directoryPlugin } from '../plugin';
import { directoryNameOf, findEntity } from './catalogNames';

const server = new DirectoryServer();
registerMswTestHooks(server.msw);

function anEntity(
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

/** A certificate that ends so many days from now. */
function ending(days: number, given: Partial<Certificate> = {}): Certificate {
  return aCertificate({ valid_not_after: rfc822(days), ...given });
}

/** Has karl hold certificates. */
function holds(certificates: Certificate[]) {
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
    features: [directoryPlugin],
    extensions: [createTestEntityPage({ entity })],
  });
}

describe('the card of a user', () => {
  it('says who they are in the directory, and leads there', async () => {
    server.on('/users/karl/', () => ({ result: karl }));
    server.on('/users/karl/memberships/', () =>
      pageOf([{ groupname: 'packager' }], 7),
    );
    holds([]);
    renderEntity(anEntity('User', 'karl'), 'entityName');

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

  it('goes by the annotation where the server does', async () => {
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
      anEntity('User', 'kl', { 'directory-gateway/username': 'karl' }),
      'annotation',
    );
    await waitFor(
      () =>
        expect(
          screen.getAllByText('The directory has nobody called karl.'),
        ).toHaveLength(2), // on both cards
    );
    expect(
      screen.queryByRole('link', { name: 'All certificates' }),
    ).not.toBeInTheDocument();
  });
});

describe('the card of a user’s certificates', () => {
  beforeEach(() => {
    server.on('/users/karl/', () => ({ result: karl }));
    server.on('/users/karl/memberships/', () => pageOf([]));
  });

  it('shows those that hold, the one that ends first at the top', async () => {
    const next = ending(10.5, { serial_number: 1n });
    holds([
      ending(400, { serial_number: 5n }),
      ending(300, { serial_number: 4n }),
      ending(200, { serial_number: LONG_SERIAL }),
      ending(100, { serial_number: 2n }),
      next,
      ending(20, { serial_number: 6n, revoked: true }),
      ending(-1, { serial_number: 7n }),
      ending(30, { serial_number: 8n, valid_not_before: rfc822(1) }),
    ]);
    renderEntity(anEntity('User', 'karl'), 'entityName');

    await screen.findByRole('link', { name: '1' });
    const lines = screen
      .getAllByRole('listitem')
      .filter(line => /Ends/.test(line.textContent ?? ''));
    expect(
      lines.map(line => within(line).getByRole('link').getAttribute('href')),
    ).toEqual([
      '/directory/certificates/1',
      '/directory/certificates/2',
      `/directory/certificates/${LONG_SERIAL}`,
    ]);
    expect(lines[0]).toHaveTextContent('Ends in 10 days');
    expect(lines[0]).toHaveTextContent('Expires soon');
    expect(lines[1]).toHaveTextContent('Valid');
    expect(lines[2]).toHaveTextContent('34028236…211454');
    const end = new Date(next.valid_not_after);
    expect(within(lines[0]).getByRole('time')).toHaveAttribute(
      'title',
      end.toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'long' }),
    );

    const tab = '/directory/people/karl?tab=certificates';
    for (const name of ['and 2 more', 'All certificates']) {
      expect(screen.getByRole('link', { name })).toHaveAttribute('href', tab);
    }
  });

  it('says that nothing holds, and still leads to what is over', async () => {
    holds([ending(-1)]);
    renderEntity(anEntity('User', 'karl'), 'entityName');
    expect(
      await screen.findByText('No certificate that is valid now.'),
    ).toBeVisible();
    expect(screen.queryByText(/more$/)).not.toBeInTheDocument();
    expect(
      screen.getByRole('link', { name: 'All certificates' }),
    ).toBeVisible();
  });

  it('asks again when it is told to', async () => {
    server.on('/users/karl/certificates/', () =>
      failure(503, { message: 'Away' }),
    );
    renderEntity(anEntity('User', 'karl'), 'entityName');
    expect(
      await screen.findByText('The directory could not be asked.'),
    ).toBeVisible();

    holds([ending(100, { serial_number: 2n })]);
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await screen.findByRole('link', { name: '2' })).toBeVisible();
  });
});

describe('the card of a group', () => {
  it('says how large it is and whom to ask', async () => {
    server.on('/groups/packager/', () => ({
      result: { description: 'They package', member_count: 1234 },
    }));
    server.on('/groups/packager/sponsors/', () => ({ result: [karl] }));
    renderEntity(anEntity('Group', 'packager'), 'entityName');

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

  it('says that the directory cannot be asked', async () => {
    server.on('/groups/:groupname/', () => failure(503, { message: 'Away' }));
    server.on('/groups/:groupname/sponsors/', () => ({ result: [] }));
    renderEntity(anEntity('Group', 'packager'), 'entityName');
    expect(
      await screen.findByText('The directory could not be asked.'),
    ).toBeVisible();
  });
});

describe('directoryNameOf', () => {
  const byName = { namespace: 'default', by: 'entityName' } as const;
  const byAnnotation = { namespace: 'default', by: 'annotation' } as const;
  const annotated = anEntity('Group', 'design', {
    'directory-gateway/groupname': 'design-team',
  });

  it.each([
    [annotated, byName, 'design'],
    [annotated, byAnnotation, 'design-team'],
    [anEntity('User', 'karl'), byAnnotation, undefined],
    [anEntity('Component', 'karl'), byName, undefined],
    [annotated, { ...byName, namespace: 'elsewhere' }, undefined],
  ])('reads %j by %j as %s', (entity, names, expected) => {
    expect(directoryNameOf(entity, names)).toBe(expected);
  });

  it('is what findEntity finds back', async () => {
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
