import type { Row } from './Row';

/** What a run has shown. */
export interface Results {
  readonly rows: readonly Row[];
  /** Bytes of memory that the portal's process had, before and after. */
  readonly rss: { readonly idle: number; readonly loaded: number };
}
