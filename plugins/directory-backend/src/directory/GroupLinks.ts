/** What a group names: normalized DNs. */
export interface GroupNames {
  /** `member`. */
  readonly members: readonly string[];
  /** `memberManager`. */
  readonly sponsors: readonly string[];
}

/** Who names whom, of all groups, served or not, by normalized DNs. */
export interface GroupLinks {
  get(group: string): GroupNames | undefined;
  /** The groups whose `member` names an entry, in the order of their DNs. */
  groupsNaming(entry: string): readonly string[];
  /** The groups whose `memberManager` names an entry. */
  groupsManagedBy(entry: string): readonly string[];
}
