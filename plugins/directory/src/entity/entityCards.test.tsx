import type { Entity } from '@backstage/catalog-model';
import {
  registerMswTestHooks,
  renderTestApp,
} from '@backstage/frontend-test-utils';
import {
  catalogApiMock,
  createTestEntityPage,
} from '@backstage/plugin-catalog-react/testUtils';
import { screen } from '@testing-library/react';
import {
  DirectoryServer,
  failure,
  pageOf,
} from '../__testUtils__/DirectoryServer';
import { karl } from '../__testUtils__/people';
import { directoryPlugin } from '../plugin';
import { directoryNameOf } from './catalogNames';
import { findEntity } from './findEntity';

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
    renderEntity(
      anEntity('User', 'kl', { 'directory-gateway/username': 'karl' }),
      'annotation',
    );
    expect(
      await screen.findByText('The directory has nobody called karl.'),
    ).toBeVisible();
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
