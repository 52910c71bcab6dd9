export const groupsMessages = {
  title: 'Groups',
} as const;
