export const groupMessages = {
  title: 'Group',
} as const;
