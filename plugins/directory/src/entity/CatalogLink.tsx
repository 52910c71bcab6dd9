import {
  coreApis,
  useApi,
  useApiHolder,
  useRouteRef,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import { catalogApiRef } from '@backstage/plugin-catalog-react';
import { ButtonLink } from '@backstage/ui';
import { RiBookOpenLine } from '@remixicon/react';
import { useDirectoryQuery } from '../api/useDirectoryQuery';
import { catalogEntityRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import { type CatalogKind, findEntity, readCatalogNames } from './catalogNames';

/**
 * Link to the catalog entity of a user or a group. Empty without an entity or a
 * catalog.
 */
export function CatalogLink(props: {
  kind: CatalogKind;
  directoryName: string;
}) {
  const { kind, directoryName } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const names = readCatalogNames(useApi(coreApis.config));
  const catalog = useApiHolder().get(catalogApiRef);
  const href = useRouteRef(catalogEntityRouteRef);

  const { data } = useDirectoryQuery({
    key: ['catalog entity', kind, directoryName],
    enabled: Boolean(catalog && href),
    load: async () => {
      try {
        return await findEntity({
          catalog: catalog!,
          kind,
          directoryName,
          names,
        });
      } catch {
        return null; // the page works without the link
      }
    },
  });
  if (!data || !href) {
    return null;
  }
  return (
    <ButtonLink
      href={href({ ...data, kind: data.kind.toLowerCase() })}
      size="small"
      variant="secondary"
      iconStart={<RiBookOpenLine />}
    >
      {t('entity.openCatalog')}
    </ButtonLink>
  );
}
