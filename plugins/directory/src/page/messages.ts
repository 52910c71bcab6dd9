export const pageMessages = {
  people: 'People',
  groups: 'Groups',
} as const;
