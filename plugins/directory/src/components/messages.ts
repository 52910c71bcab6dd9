export const copyMessages = {
  value: 'Copy {{value}}',
  copied: 'Copied',
  failed: 'Could not copy',
} as const;

export const linksMessages = {
  email: 'E-mail',
  mailingList: 'Mailing list',
  matrix: 'Matrix',
  matrixRoom: 'Matrix room',
  irc: 'IRC',
  ircChannel: 'IRC channel',
  nick: 'Nick',
  channel: 'Channel',
  discussion: 'Discussion',
  github: 'GitHub',
  gitlab: 'GitLab',
  website: 'Website',
  feed: 'Feed',
  bugs: 'Bug tracker',
} as const;

export const pageMessages = {
  people: 'People',
  groups: 'Groups',
  certificates: 'Certificates',
} as const;

export const paginationMessages = {
  label: 'Pages',
  range: '{{from}} to {{to}} of {{total}}',
  first: 'First page',
  previous: 'Previous page',
  next: 'Next page',
  last: 'Last page',
  pastEnd: 'Page {{page}} does not exist',
  toFirst: 'Go to the first page',
} as const;

export const searchMessages = {
  short: 'To search parts of names, type at least three characters.',
  hint: 'Press the down arrow to move through the results, Enter to open one.',
  view: 'View',
  cards: 'Cards',
  table: 'Table',
} as const;

export const statesMessages = {
  loading: 'Loading',
  retry: 'Try again',
  retryIn: 'Retrying in {{delay}}.',
  directoryUnavailable: 'The directory is unavailable',
  portalUnreachable: 'The portal cannot be reached',
  forbidden: 'You are not allowed to view this',
  unknown_principal: 'Your user has no account in the directory',
  account_locked: 'Your account is locked',
  account_expired: 'Your account has expired',
  failed: 'The request failed',
  lastUpdated: 'Last updated at {{time}}.',
  notAffected: 'The rest of the portal is not affected.',
  requestId: 'Request ID: {{id}}',
} as const;

export const timeMessages = {
  ahead: '{{time}}, {{difference}} ahead of you',
  behind: '{{time}}, {{difference}} behind you',
  same: '{{time}}, the same time as you',
} as const;
