export const pagingMessages = {
  range: '{{from}} to {{to}} of {{total}}',
} as const;
