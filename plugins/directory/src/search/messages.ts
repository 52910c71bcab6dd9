export const searchMessages = {
  tooShort: 'Type at least three characters.',
} as const;
