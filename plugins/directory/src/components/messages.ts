export const copyMessages = {
  copied: 'Copied',
  failed: 'The browser refused to copy',
} as const;
