export const copyMessages = {
  copied: 'Copied',
  failed: 'The browser refused to copy',
} as const;

export const timeMessages = {
  ahead: '{{time}}, {{difference}} ahead of you',
  behind: '{{time}}, {{difference}} behind you',
  same: '{{time}}, the same time as you',
} as const;

export const pageMessages = {
  people: 'People',
  groups: 'Groups',
  certificates: 'Certificates',
} as const;

export const pagingMessages = {
  label: 'Pages',
  range: '{{from}} to {{to}} of {{total}}',
  first: 'First page',
  previous: 'Previous page',
  next: 'Next page',
  last: 'Last page',
} as const;

export const searchMessages = {
  tooShort: 'Type at least three characters.',
  hint: 'Press the down arrow to walk through the results, Enter to open one.',
} as const;

export const statesMessages = {
  loading: 'Loading',
  again: 'Try again',
  directoryAway: 'The directory cannot be reached',
  portalAway: 'The portal cannot be reached',
  refused: 'You may not see this',
  unknownPrincipal: 'Your user has no account in the directory',
  accountLocked: 'Your account is locked',
  accountExpired: 'Your account has expired',
  failed: 'That did not work',
  triesAgain: 'It is tried again by itself in {{delay}}.',
  loadedAt: 'What you see was loaded at {{time}}.',
  nothingLost: 'The rest of the portal works as ever.',
  reference: 'Reference for the support: {{id}}',
} as const;
