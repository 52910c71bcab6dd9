/**
 * Conformance suites of the ports, the naive model of a directory, and generators.
 *
 * @packageDocumentation
 */

export {
  addFasGroup,
  addFasUser,
  change,
  edit,
  renamed,
  withdrawn,
} from './conformance/changeArbitrary';
export { describeDirectory } from './conformance/describeDirectory';
export { describePrincipalLookup } from './conformance/describePrincipalLookup';
export {
  addEntry,
  addGroup,
  addUser,
  agreementDn,
  conformanceEntries,
  groupDn,
  userDn,
} from './conformance/entries';
export { findExposed } from './conformance/findExposed';
export { type Marker, plantMarkers } from './conformance/markers';
export { context, resultsOf, spelled } from './conformance/queries';
export {
  groupSearch,
  memberSelection,
  searchTerms,
} from './conformance/selectionArbitrary';
export { eventually, eventuallyReturns } from './eventually';
export { createGuard, MemoryGuardRecords } from './MemoryGuardRecords';
export { DumpedEntry, dumpEntries } from './naive/DumpedEntry';
export { NaiveDirectory } from './naive/NaiveDirectory';
export { NaiveMembership } from './naive/NaiveMembership';
export {
  GROUP_ATTRIBUTES,
  NAIVE_SCHEMAS,
  naiveUser,
} from './naive/naiveRecords';
export type { Viewer } from './naive/naiveSearch';
export { accountsOf, holder, person } from './people';
export { stopClock } from './stopClock';
