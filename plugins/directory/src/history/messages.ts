export const historyMessages = {
  title: 'History',
  hint: 'Changes to the name and the members, nested groups included',
  none: 'No changes have been recorded.',
  ofGroup: {
    group_created: 'Group created',
    group_renamed: 'Renamed from {{oldName}}',
    member_added: '{{name}} was added',
    member_removed: '{{name}} was removed',
    members_changed: 'More than 500 members or only direct memberships changed',
  },
  ofUser: {
    user_created: 'Account created',
    user_renamed: 'Renamed from {{oldName}}',
    member_added: 'Added to {{name}}',
    member_removed: 'Removed from {{name}}',
  },
} as const;
