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
import {
  isNotFound,
  loadCurrentUser,
  useDirectoryQuery,
} from '../api/useDirectoryQuery';
import { loadCertificate } from '../certificates/details/useCertificate';
import { fromPem } from '../certificates/pem';
import { shortenSerial } from '../certificates/Serial';
import { listCertificates } from '../certificates/userCertificates';
import { groupHeader, type ListedGroup } from '../groups/useGroups';
import { type FoundPerson, NO_FILTERS } from '../people/peopleQuery';
import { searchPeople, searchPeopleByText } from '../people/searchPeople';
import { sshFingerprint } from '../components/readSshKey';
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
  const titles = {
    found: t('palette.section.people'),
    similar: t('people.similar'),
    owners: t('palette.section.owners'),
  };
  const ofPeople = toSection(people, {
    id: 'people',
    title: titles[list],
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
  const searches: Partial<Record<PaletteInput['kind'], string>> = {
    text: textOf(input),
    sshKey: input.kind === 'sshKey' && canDigest() ? input.key.line : undefined,
    fingerprint: fingerprintOf(input),
    sshFingerprint: fingerprintOf(input),
  };
  return useSectionQuery({
    name: 'people',
    search: searches[input.kind],
    load: async (client, signal) => {
      const search = {
        filters: NO_FILTERS,
        page: 1,
        pageSize: LIMIT,
        signal,
      };
      const key = await keyOf(input);
      if (key) {
        const { people } = await searchPeople(client, { ...search, key });
        return { people, list: 'owners' as const };
      }
      const text = textOf(input) ?? '';
      return await searchPeopleByText(client, { ...search, text });
    },
  });
}

/** Returns the fingerprint in the field; undefined for other input. */
function fingerprintOf(input: PaletteInput): string | undefined {
  return 'fingerprint' in input ? input.fingerprint : undefined;
}

/**
 * Whether the browser can compute fingerprints: only on pages served over
 * HTTPS.
 */
export function canDigest(): boolean {
  return Boolean(globalThis.crypto?.subtle);
}

/**
 * Returns the fingerprint or ID of a public key. The key itself is not sent.
 */
async function keyOf(input: PaletteInput): Promise<string | undefined> {
  switch (input.kind) {
    case 'sshKey':
      return (await sshFingerprint(input.key.blob)) ?? undefined;
    case 'fingerprint':
    case 'sshFingerprint':
      return input.fingerprint;
    default:
      return input.kind === 'text' ? input.openPgpKey : undefined;
  }
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
  const pem = input.kind === 'certificate' ? input.pem : undefined;
  const serial = input.kind === 'text' ? input.serial : undefined;
  const fingerprint =
    input.kind === 'fingerprint' ? input.fingerprint : undefined;

  async function findSerial(client: DirectoryClient, signal: AbortSignal) {
    if (fingerprint) {
      return await findOwnSerial(fingerprint, client, signal);
    }
    return pem ? await parseSerialOf(pem) : serial;
  }

  // Certificates of other CAs may have the same serial number.
  function isSame(found: Certificate) {
    return fingerprint
      ? hasFingerprint(found, fingerprint)
      : !pem || haveSameBytes(pem, found.certificate);
  }

  return useSectionQuery({
    name: 'certificates',
    search: pem ?? fingerprint ?? serial?.toString(),
    load: async (client, signal): Promise<readonly Certificate[]> => {
      const wanted = await findSerial(client, signal);
      if (wanted === undefined) {
        return [];
      }
      try {
        const found = await loadCertificate(wanted, client, signal);
        return isSame(found) ? [found] : [];
      } catch (error) {
        if (isNotFound(error)) {
          return [];
        }
        throw error;
      }
    },
  });
}

/** Returns the serial number of a certificate; `undefined` for other text. */
async function parseSerialOf(pem: string): Promise<bigint | undefined> {
  const parser = await import('../certificates/details/parseCertificate');
  try {
    return parser.parseCertificate(pem).serial;
  } catch {
    return undefined;
  }
}

/**
 * Returns the serial number of the user's own certificate with a SHA-256
 * fingerprint; `undefined` when there is none.
 */
async function findOwnSerial(
  fingerprint: string,
  client: DirectoryClient,
  signal: AbortSignal,
): Promise<bigint | undefined> {
  const username = await loadCurrentUser(client, signal);
  if (!username) {
    return undefined;
  }
  const mask = 'serial_number,sha256_fingerprint';
  const own = await listCertificates({ client, signal, username, mask });
  return own.find(one => hasFingerprint(one, fingerprint))?.serial_number;
}

function hasFingerprint(
  { sha256_fingerprint }: Partial<Certificate>,
  fingerprint: string,
): boolean {
  return sha256_fingerprint?.replaceAll(':', '').toUpperCase() === fingerprint;
}

function haveSameBytes(one: string, other: string): boolean {
  return String(fromPem(one)) === String(fromPem(other));
}
