import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Badge, Text } from '@backstage/ui';
import { RiCheckLine, RiQuillPenLine } from '@remixicon/react';
import type { UseQueryResult } from '@tanstack/react-query';
import { DirectoryText } from '../../components/DirectoryText';
import { QueryPanel, Rows } from '../../page/QueryPanel';
import { EmptyState } from '../../page/states';
import { directoryTranslationRef } from '../../translation';
import rows from '../../page/QueryPanel.module.css';

/** The agreements that somebody has signed. */
export function AgreementsTab({ query }: { query: UseQueryResult<string[]> }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <QueryPanel query={query}>
      {names =>
        names.length === 0 ? (
          <EmptyState
            icon={<RiQuillPenLine />}
            title={t('person.agreements.none')}
          />
        ) : (
          <Rows>
            {names.map(name => (
              <li key={name} className={rows.row}>
                <Text weight="bold" className={rows.words}>
                  <DirectoryText value={name} />
                </Text>
                <Badge icon={<RiCheckLine />}>
                  {t('person.agreements.signed')}
                </Badge>
              </li>
            ))}
          </Rows>
        )
      }
    </QueryPanel>
  );
}
