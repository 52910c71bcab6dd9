export const pageMessages = {
  people: 'People',
  groups: 'Groups',
  certificates: 'Certificates',
} as const;
