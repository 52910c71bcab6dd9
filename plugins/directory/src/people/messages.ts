export const peopleMessages = {
  title: 'People',
} as const;
