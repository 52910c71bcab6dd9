import {
  useApiHolder,
  useRouteRef,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import { catalogApiRef } from '@backstage/plugin-catalog-react';
import type {
  Certificate,
  DirectoryClient,
} from '@directory-gateway/backstage-plugin-directory-common';
import type { UseQueryResult } from '@tanstack/react-query';
import { isNotFound, useDirectoryQuery } from '../api/useDirectoryQuery';
import { loadCertificate } from '../certificates/details/useCertificate';
import { shortenSerial } from '../certificates/Serial';
import { groupHeader, type ListedGroup } from '../groups/useGroups';
import { type FoundPerson, NO_FILTERS } from '../people/peopleQuery';
import { searchPeopleByText } from '../people/searchPeople';
import {
  catalogEntityRouteRef,
  certificateRouteRef,
  groupRouteRef,
  personRouteRef,
} from '../routes';
import { directoryTranslationRef } from '../translation';
import type { PaletteInput } from './readInput';

/** Maximum number of results in a section. */
const LIMIT = 5;

/**
 * Delay of the catalog search after a key, in milliseconds. Its requests cannot
 * be aborted, and would delay the other searches while the user types.
 */
const CATALOG_DELAY = 200;

/** A found page. */
export interface Result {
  /** Unique among all results. */
  id: string;
  href: string;
  title: string;
  detail?: string;

  /** The user, in the people section. */
  person?: FoundPerson;
}

/** Results of one kind. */
export interface Section {
  id: 'people' | 'groups' | 'catalog' | 'certificates';
  title: string;
  results: readonly Result[];

  /**
   * Whether the section is loading; results are then those of the previous
   * search.
   */
  isPending: boolean;
  hasFailed: boolean;
}

/** Searches everything. Changed input aborts pending requests. */
export function useSections(input: PaletteInput): readonly Section[] {
  const { t } = useTranslationRef(directoryTranslationRef);
  const people = usePeopleQuery(input);
  const groups = useGroupsQuery(input);
  const catalog = useCatalogQuery(input);
  const certificates = useCertificatesQuery(input);
  const personHref = useRouteRef(personRouteRef);
  const groupHref = useRouteRef(groupRouteRef);
  const entityHref = useRouteRef(catalogEntityRouteRef);
  const certificateHref = useRouteRef(certificateRouteRef);

  const { list = 'found' } = people.data ?? {};
  const ofPeople = toSection(people, {
    id: 'people',
    title: t(list === 'similar' ? 'people.similar' : 'palette.section.people'),
    results: people.data?.people.map(person => ({
      id: `person ${person.username}`,
      href: personHref?.(person) ?? '',
      title: person.human_name ?? person.username,
      detail: person.human_name ? person.username : undefined,
      person,
    })),
  });
  const others = [
    toSection(groups, {
      id: 'groups',
      title: t('palette.section.groups'),
      results: groups.data?.map(group => ({
        id: `group ${group.groupname}`,
        href: groupHref?.(group) ?? '',
        title: group.groupname,
        detail: group.description ?? undefined,
      })),
    }),
    toSection(catalog, {
      id: 'catalog',
      title: t('palette.section.catalog'),
      results: catalog.data?.map(({ kind, metadata }) => {
        const { name, namespace = 'default', title = name } = metadata;
        const ref = { kind: kind.toLowerCase(), namespace, name };
        return {
          id: `entity ${ref.kind}:${namespace}/${name}`,
          href: entityHref?.(ref) ?? '',
          title,
          detail: kind,
        };
      }),
    }),
    toSection(certificates, {
      id: 'certificates',
      title: t('palette.section.certificates'),
      results: certificates.data?.map(({ serial_number, subject }) => ({
        id: `certificate ${serial_number}`,
        href: certificateHref?.({ serial: String(serial_number) }) ?? '',
        title: subject,
        detail: t('palette.serial', {
          serial: shortenSerial(String(serial_number)),
        }),
      })),
    }),
  ];
  // Similar names come last.
  return list === 'similar' ? [...others, ofPeople] : [ofPeople, ...others];
}

/**
 * Query of a section. `isEnabled`: whether the section searches for this input.
 */
type SectionQuery<Data> = UseQueryResult<Data> & { isEnabled: boolean };

function toSection<Data>(
  query: SectionQuery<Data>,
  found: Pick<Section, 'id' | 'title'> & { results?: readonly Result[] },
): Section {
  const { isEnabled, isPending, isPlaceholderData, isError } = query;
  return {
    ...found,
    results: isEnabled && !isError ? (found.results ?? []) : [],
    isPending: isEnabled && (isPending || isPlaceholderData),
    hasFailed: isEnabled && isError,
  };
}

function useSectionQuery<Data>(options: {
  name: string;

  /** Search text; `undefined` disables the query. */
  search: string | undefined;
  load: (client: DirectoryClient, signal: AbortSignal) => Promise<Data>;
}): SectionQuery<Data> {
  const { name, search, load } = options;
  const isEnabled = search !== undefined;
  const query = useDirectoryQuery({
    key: ['palette', name, search],
    enabled: isEnabled,
    keepPrevious: true,
    load,
  });
  return { ...query, isEnabled };
}

/** Returns the search text; `undefined` for other input. */
function textOf(input: PaletteInput): string | undefined {
  return input.kind === 'text' ? input.text : undefined;
}

function usePeopleQuery(input: PaletteInput) {
  return useSectionQuery({
    name: 'people',
    search: textOf(input),
    load: (client, signal) =>
      searchPeopleByText(client, {
        text: textOf(input) ?? '',
        filters: NO_FILTERS,
        page: 1,
        pageSize: LIMIT,
        signal,
      }),
  });
}

function useGroupsQuery(input: PaletteInput) {
  return useSectionQuery({
    name: 'groups',
    search: textOf(input),
    load: async (client, signal) => {
      const query = { q: textOf(input), page_size: LIMIT };
      const search = async (similar: boolean) => {
        const { data } = await client.get('/search/groups/', {
          params: { query: { ...query, similar }, header: groupHeader },
          signal,
        });
        // The mask selects exactly these fields.
        return data.result as ListedGroup[];
      };
      const found = await search(false);
      return found.length > 0 ? found : await search(true);
    },
  });
}

/**
 * Searches the catalog, without users and groups, which have their own
 * sections.
 */
function useCatalogQuery(input: PaletteInput) {
  const catalog = useApiHolder().get(catalogApiRef);
  const hasPages = useRouteRef(catalogEntityRouteRef) !== undefined;
  const term = textOf(input);
  return useSectionQuery({
    name: 'catalog',
    search: catalog && hasPages ? term : undefined,
    load: async (_client, signal) => {
      await pause(CATALOG_DELAY, signal);
      const { items } = await catalog!.queryEntities({
        query: { $not: { kind: { $in: ['User', 'Group'] } } },
        fullTextFilter: {
          term: term!,
          fields: ['metadata.name', 'metadata.title'],
        },
        fields: ['kind', 'metadata'],
        limit: LIMIT,
        totalItems: 'exclude',
      });
      return items;
    },
  });
}

/** Resolves after a delay; rejects when the signal is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

function useCertificatesQuery(input: PaletteInput) {
  const serial = input.kind === 'text' ? input.serial : undefined;
  return useSectionQuery({
    name: 'certificates',
    search: serial?.toString(),
    load: async (client, signal): Promise<readonly Certificate[]> => {
      try {
        return [await loadCertificate(serial!, client, signal)];
      } catch (error) {
        if (isNotFound(error)) {
          return [];
        }
        throw error;
      }
    },
  });
}
