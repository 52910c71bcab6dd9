/**
 * The domain of the directory gateway: the ports `Directory`, `PrincipalLookup` and
 * `ReplicaSource`, records, predicates, privacy, and the replica with its tables.
 *
 * @packageDocumentation
 */

export { Accounts } from './directory/Accounts';
export {
  actorOf,
  type Caller,
  type CallerContext,
  PrincipalSet,
  type PrincipalSetOptions,
  readPrincipalSet,
} from './directory/Caller';
export { CallerAudit } from './directory/CallerAudit';
export type {
  ByTier,
  Directory,
  GroupSelection,
  ListedGroup,
  MembershipKind,
  MembershipReason,
  Paged,
  RequestContext,
  UserSelection,
  UserStream,
  Visibility,
  VisibilityTests,
} from './directory/Directory';
export {
  AmbiguousPortalUserError,
  DirectoryTimeoutError,
  DirectoryUnavailableError,
  type Reachability,
  type UnavailableReason,
} from './directory/errors';
export { isGroupName, isUserName } from './directory/names';
export { type Page, type PageRequest, slicePage } from './directory/Page';
export {
  allOf,
  anyOf,
  type FieldCondition,
  type GroupCondition,
  type GroupPredicate,
  not,
  type Predicate,
  type UserCondition,
  type UserPredicate,
  visitPredicate,
} from './directory/predicates';
export {
  isExpired,
  type Principal,
  type PrincipalLookup,
  type PrincipalQuery,
  type SubjectLookup,
  type SubjectQuery,
  type SubjectState,
  type VerifiedPrincipal,
} from './directory/Principal';
export {
  type PrivacyPolicy,
  PrivateDirectory,
} from './directory/PrivateDirectory';
export { publicKeyId } from './directory/publicKeys';
export {
  emptyGroup,
  emptyUser,
  type Group,
  type User,
} from './directory/records';
export {
  type DirectorySchema,
  type FieldDefinition,
  type FieldSyntax,
  type GroupField,
  groupFieldNames,
  groupFields,
  hiddenFieldNames,
  isGroupField,
  isUserField,
  schemaPreset,
  type SchemaPreset,
  searchParameters,
  type UserField,
  userFieldNames,
  userFields,
} from './directory/schema';
export {
  closestFirst,
  similarTo,
  type TextFields,
} from './directory/textSearch';
export { observeReplica } from './replica/observeReplica';
export { Replica, type ReplicaOptions } from './replica/Replica';
export { readReplicaConfig, type ReplicaConfig } from './replica/ReplicaConfig';
export { ReplicaDirectory } from './replica/ReplicaDirectory';
export { ReplicatedAccounts } from './replica/ReplicatedAccounts';
export type { TableObserver } from './replica/sync/DirectorySync';
export {
  covers,
  type EntryCounts,
  type GuardRecords,
  MassDeletionGuard,
  type Quarantine,
} from './replica/sync/MassDeletionGuard';
export {
  type CurrentPosition,
  expectServer,
  type ListedChanges,
  type ListedIds,
  type OnBatch,
  type PositionOrder,
  type ReplicaIds,
  type ReplicaPosition,
  type ReplicaSource,
} from './replica/sync/ReplicaSource';
export type {
  ReplicaStatus,
  SuspensionReason,
} from './replica/sync/ReplicaState';
export { TableWriter, type WrittenEntries } from './replica/sync/TableWriter';
export {
  type AgreementEntry,
  type EntryRef,
  type GroupEntry,
  type ReadEntry,
  type ReplicaBatch,
  type ReplicaKind,
  replicaKinds,
  type SearchOnlyValues,
  type UserEntry,
} from './replica/tables/entries';
export { differingPart } from './replica/tables/MembershipGraph';
export { ReplicaTables } from './replica/tables/ReplicaTables';
export type { ServedRecord } from './replica/tables/RowBlock';
