import { Box } from '@backstage/ui';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { isNotFound } from '../api/useDirectoryQuery';
import styles from './QueryPanel.module.css';
import { LoadingBlocks } from './loading';
import { ErrorState, SectionError, StaleNotice } from './states';

/** The data of a query, or its loading, not-found or error state. */
export function QueryPanel<Data>(props: {
  query: UseQueryResult<Data>;
  children: (data: Data) => ReactNode;

  /** Shown while loading. Defaults to a list placeholder. */
  skeleton?: ReactNode;

  /** Shown for status 404. Defaults to the error. */
  notFound?: ReactNode;

  /** Whether a failed refresh is reported elsewhere. Defaults to false. */
  hidesStaleNotice?: boolean;

  /**
   * Whether to show errors in one line, because the page has other content.
   * Defaults to false.
   */
  isSection?: boolean;
}) {
  const { query, children, skeleton, notFound, hidesStaleNotice } = props;
  const { data, error, dataUpdatedAt, refetch } = query;
  if (notFound && isNotFound(error)) {
    return <>{notFound}</>;
  }
  if (data === undefined) {
    const Failure = props.isSection ? SectionError : ErrorState;
    return error ? (
      <Failure error={error} onRetry={refetch} />
    ) : (
      <>{skeleton ?? <LoadingBlocks heights={[40, 64, 64, 64]} />}</>
    );
  }
  return (
    <>
      {error && !hidesStaleNotice && (
        <StaleNotice error={error} loadedAt={dataUpdatedAt} onRetry={refetch} />
      )}
      {children(data)}
    </>
  );
}

/** A list with a background. Items use the class `row` of this CSS module. */
export function Rows({ children }: { children: ReactNode }) {
  return (
    <Box as="ul" bg="neutral" className={styles.rows}>
      {children}
    </Box>
  );
}
