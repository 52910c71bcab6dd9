import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { TablePagination } from '@backstage/ui';
import { directoryTranslationRef } from '../translation';

/** Options of {@link PageTurner}. */
export interface PageTurnerProps {
  /** Counted from 1. */
  page: number;
  pageSize: number;
  total: number;
  onTurn: (page: number) => void;
}

/** Where one is in a list, and the way to the pages around; nothing on a single page. */
export function PageTurner(props: PageTurnerProps) {
  const { page, pageSize, total, onTurn } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  if (total <= pageSize) {
    return null;
  }
  const offset = (page - 1) * pageSize;
  return (
    <TablePagination
      pageSize={pageSize}
      pageSizeOptions={[]}
      showPageSizeOptions={false}
      offset={offset}
      totalCount={total}
      hasPreviousPage={page > 1}
      hasNextPage={offset + pageSize < total}
      onPreviousPage={() => onTurn(page - 1)}
      onNextPage={() => onTurn(page + 1)}
      getLabel={() =>
        t('paging.range', {
          from: (offset + 1).toLocaleString(),
          to: Math.min(offset + pageSize, total).toLocaleString(),
          total: total.toLocaleString(),
        })
      }
    />
  );
}
