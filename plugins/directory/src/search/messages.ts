export const searchMessages = {
  tooShort: 'Type at least three characters.',
  hint: 'Press the down arrow to walk through the results, Enter to open one.',
} as const;
