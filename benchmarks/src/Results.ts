import type { Row } from './rows/Row';
import type { WayResult } from './ways/WayResult';

/** What a run has shown. */
export interface Results {
  readonly rows: readonly Row[];
  /** What is told once of each portal; the last one is without the plugin. */
  readonly ways: readonly WayResult[];
}
