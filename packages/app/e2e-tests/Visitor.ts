/** Who sits before the browser. */
export interface Visitor {
  /**
   * Whose Kerberos ticket the browser finds: `alice`, `carol` (locked), `bob`
   * (private) …, see the realm's README. Default: nobody's.
   */
  readonly ticket?: string;
  /** Whether the browser may send tickets to the portal. Default: yes. */
  readonly hostAllowed?: boolean;
}

/** May revoke certificates and export members, by `portal.yaml`. */
export const officer: Visitor = { ticket: 'john.doe' };

/** An ordinary person with a ticket: in without a click. */
export const alice: Visitor = { ticket: 'alice' };
