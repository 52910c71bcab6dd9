import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { ButtonLink } from '@backstage/ui';
import { RiGroupLine, RiUserSearchLine } from '@remixicon/react';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { isNotFound } from '../api/useDirectoryQuery';
import { DirectoryText } from '../components/DirectoryText';
import { DirectoryPage } from '../page/DirectoryPage';
import { QueryPanel } from '../page/QueryPanel';
import { EmptyState } from '../page/states';
import { groupsRouteRef, peopleRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import { CatalogLink } from './CatalogLink';
import type { CatalogKind } from './catalogNames';

/** The page of a user or a group, with a link to the catalog entity. */
export function EntryPage<Data>(props: {
  kind: CatalogKind;

  /** Name from the URL. */
  name: string;

  query: UseQueryResult<Data>;

  /** Returns the name in the directory; the case in the URL may differ. */
  nameOf: (data: Data) => string;
  titleOf: (data: Data) => string;
  skeleton: ReactNode;
  children: (data: Data) => ReactNode;
}) {
  const { kind, name, query, skeleton, children } = props;
  const { data, error } = query;
  return (
    <DirectoryPage
      area={kind === 'user' ? 'people' : 'groups'}
      subject={data === undefined ? name : props.titleOf(data)}
      actions={
        data !== undefined &&
        !isNotFound(error) && (
          <CatalogLink kind={kind} directoryName={props.nameOf(data)} />
        )
      }
    >
      <QueryPanel
        query={query}
        skeleton={skeleton}
        notFound={<NotFound kind={kind} name={name} />}
      >
        {children}
      </QueryPanel>
    </DirectoryPage>
  );
}

/** Shown when the user or the group does not exist. */
function NotFound(props: { kind: CatalogKind; name: string }) {
  const { kind, name } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const searchPaths = {
    user: useRouteRef(peopleRouteRef)?.() ?? '/',
    group: useRouteRef(groupsRouteRef)?.() ?? '/',
  };
  return (
    <EmptyState
      icon={kind === 'user' ? <RiUserSearchLine /> : <RiGroupLine />}
      title={t(`entity.${kind}.notFound`, {
        name: <DirectoryText value={name} />,
      })}
      description={t('entity.notFoundHint')}
      actions={
        <ButtonLink
          variant="primary"
          href={`${searchPaths[kind]}?${new URLSearchParams({ q: name })}`}
        >
          {t('entity.searchFor', { name: <DirectoryText value={name} /> })}
        </ButtonLink>
      }
    />
  );
}
