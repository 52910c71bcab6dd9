export const personMessages = {
  title: 'Person',
} as const;
