import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  addFasGroup,
  addFasUser,
  addGroup,
  addUser,
  eventually,
  groupDn,
  userDn,
} from '@directory-gateway/directory-core/testUtils';
import {
  directoryNames,
  namesOf,
} from '../__testUtils__/catalog/catalogEntities';
import {
  CATALOG,
  SERVICE_TOKEN,
  startOrganization,
} from '../__testUtils__/catalog/startOrganization';

const BACKUP = 'catalog_backup';

jest.setTimeout(900_000);

let organization: Awaited<ReturnType<typeof startOrganization>>;
beforeAll(async () => {
  organization = await startOrganization();
});
afterAll(() => organization?.stop());

describe('the entities of the catalog', () => {
  it('are shown again when the portal was killed before it stitched an entity', async () => {
    const [{ metadata }] = await organization.entities();
    const annotation = metadata.annotations['directory-gateway/digest'];
    const [digest] = annotation.split('.');
    await organization.gateway().stop();
    const knex = organization.postgres.connect(CATALOG);
    try {
      // Shows the entity as before it was processed.
      await knex('final_entities')
        .where({ entity_id: metadata.uid })
        .update({
          final_entity: knex.raw('replace(final_entity, ?, ?)', [
            annotation,
            'before',
          ]),
        });
    } finally {
      await knex.destroy();
    }
    await organization.startAgain();
    await eventually(async () => {
      const shown = (await organization.entities()).find(
        entity => entity.metadata.uid === metadata.uid,
      );
      expect(shown?.metadata.annotations['directory-gateway/digest']).toMatch(
        new RegExp(`^${digest}\\.\\d+$`),
      );
    });
    await organization.expectRecovered();
  });

  it('are kept when the portal starts once without the module', async () => {
    const file = join(organization.folder, 'component.yaml');
    const component = {
      apiVersion: 'backstage.io/v1alpha1',
      kind: 'Component',
      metadata: { name: 'website' },
      spec: { type: 'website', lifecycle: 'production', owner: 'unknown' },
    };
    await writeFile(file, JSON.stringify(component));
    await organization.gateway().stop();
    await organization.startAgain({
      entry: 'gateway',
      catalog: { locations: [{ type: 'file', target: file }] },
    });
    // The catalog processes entities, and has removed those without a provider.
    await eventually(async () => {
      const response = await fetch(
        `${
          organization.gateway().baseUrl
        }/api/catalog/entities/by-name/component/default/website`,
        { headers: { Authorization: `Bearer ${SERVICE_TOKEN}` } },
      );
      expect(response.status).toBe(200);
    });
    await organization.expectKept();
    await organization.gateway().stop();
    await organization.startAgain();
    await organization.expectRecovered();
  });

  it('match the directory after the database was restored from an older backup', async () => {
    await organization.gateway().stop();
    await organization.replaceDatabase(BACKUP, CATALOG);
    await organization.startAgain();
    await organization.realm.modify(
      addFasUser('later') +
        addFasGroup('later-group', [userDn('later')]) +
        [userDn('bob'), groupDn('rel-eng')]
          .map(dn => `dn: ${dn}\nchangetype: delete\n\n`)
          .join(''),
    );
    const names = await directoryNames(organization.realm);
    const untilEqual = () =>
      eventually(async () =>
        expect(namesOf(await organization.entities())).toEqual(names),
      );
    await untilEqual();
    await organization.gateway().stop();
    await organization.replaceDatabase(CATALOG, BACKUP);
    await organization.startAgain();
    await untilEqual();
    const ids = new Set(
      (await organization.entities()).map(({ metadata }) => metadata.uid),
    );
    expect(
      organization
        .kept()
        .filter(({ metadata }) => !ids.has(metadata.uid))
        .map(({ metadata }) => metadata.name)
        .sort(),
    ).toEqual(['bob', 'rel-eng']);
    await organization.untilIngested();
    await organization.backUpDirectory();
    await organization.expectRecovered();
  });

  it('are indexed when the directory has texts that PostgreSQL does not store', async () => {
    const { realm } = organization;
    const fasUser = (displayName: string) => ({
      objectClass: [
        ...['inetOrgPerson', 'posixAccount', 'krbPrincipalAux', 'fasUser'],
      ],
      displayName,
    });
    await realm.modify(
      addUser('with-nul', fasUser('Name\0WithNUL')) +
        // Too long for a `tsvector`.
        addUser('with-words', fasUser([...Array(2e5).keys()].join(' '))) +
        addUser('later-private', fasUser('Zebulon Quagga')) +
        addGroup('nul-group', [userDn('with-nul')], {
          objectClass: ['ipaUserGroup', 'fasGroup'],
          description: 'Two\nlines\0 with NUL',
        }),
    );
    await organization.gateway().stop();
    await organization.startAgain({
      entry: 'portal',
      search: {
        collators: {
          catalog: {
            // A run that the previous portal did not finish ends in time.
            schedule: { frequency: { seconds: 1 }, timeout: { minutes: 1 } },
          },
        },
      },
    });
    await organization.untilIngested();
    const found = async (term: string) => {
      const { baseUrl } = organization.gateway();
      const response = await fetch(`${baseUrl}/api/search/query?term=${term}`, {
        headers: { Authorization: `Bearer ${SERVICE_TOKEN}` },
      });
      const { results } = (await response.json()) as {
        results: { document: { title: string; text: string } }[];
      };
      return results.map(({ document: { title, text } }) => [title, text]);
    };
    const untilFound = (term: string, documents: readonly string[][]) =>
      eventually(async () => expect(await found(term)).toEqual(documents));
    await untilFound('quagga', [['Zebulon Quagga', 'Zebulon Quagga']]);
    await untilFound('WithNUL', [['Name\ufffdWithNUL', 'Name\ufffdWithNUL']]);
    await untilFound('nul-group', [
      ['nul-group', 'Two\nlines\ufffd with NUL : nul-group'],
    ]);
    await realm.modify(
      `dn: ${userDn(
        'later-private',
      )}\nchangetype: modify\nreplace: fasIsPrivate\nfasIsPrivate: TRUE\n`,
    );
    await untilFound('quagga', []);
  });
});
