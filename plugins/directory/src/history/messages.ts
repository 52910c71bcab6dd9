export const historyMessages = {
  title: 'History',
  hint: 'Changes to the name and the direct members',
  none: 'No changes have been recorded.',
  ofGroup: {
    group_created: 'Group created',
    group_renamed: 'Renamed from {{oldName}}',
    member_added: '{{name}} was added',
    member_removed: '{{name}} was removed',
  },
  ofUser: {
    user_created: 'Account created',
    user_renamed: 'Renamed from {{oldName}}',
    user_locked: 'Account locked',
    user_unlocked: 'Account unlocked',
    member_added: 'Added to {{name}}',
    member_removed: 'Removed from {{name}}',
  },
} as const;
