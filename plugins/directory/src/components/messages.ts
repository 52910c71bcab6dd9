export const copyMessages = {
  value: 'Copy {{value}}',
  link: {
    email: 'Copy email address {{value}}',
    mailingList: 'Copy mailing list {{value}}',
    matrix: 'Copy Matrix ID {{value}}',
    matrixRoom: 'Copy Matrix room {{value}}',
    irc: 'Copy IRC nick {{value}}',
    ircChannel: 'Copy IRC channel {{value}}',
    nick: 'Copy nick {{value}}',
    channel: 'Copy channel {{value}}',
    discussion: 'Copy discussion URL {{value}}',
    github: 'Copy GitHub name {{value}}',
    gitlab: 'Copy GitLab name {{value}}',
    website: 'Copy website URL {{value}}',
    feed: 'Copy feed URL {{value}}',
    bugs: 'Copy bug tracker email address {{value}}',
  },
  copied: 'Copied',
  failed: 'Could not copy',
} as const;

export const linksMessages = {
  email: 'Email',
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
  short: 'Type at least three characters to search for part of a name.',
  hint: 'Press the down arrow to move to the first result.',
} as const;

export const statesMessages = {
  loading: 'Loading',
  retry: 'Try again',
  retryIn: 'Retrying in {{delay}}.',
  directoryUnavailable: 'The directory is unavailable',
  portalUnreachable: 'The portal cannot be reached',
  forbidden: 'You are not allowed to view this',
  unknown_principal: 'You do not have an account in the directory',
  account_locked: 'Your account is locked',
  account_expired: 'Your account has expired',
  sessionEnded: 'Your session has ended',
  sessionEndedHint:
    'Sign in again to continue. If you use Kerberos, get a new ticket first.',
  signInAgain: 'Sign in again',
  failed: 'The request failed',
  loadError: 'This content could not be loaded',
  loadErrorHint: 'The portal was updated, or the connection failed.',
  reload: 'Reload',
  lastUpdated: 'Last updated at {{time}}.',
  notAffected: 'The rest of the portal is not affected.',
  requestId: 'Request ID: {{id}}',
} as const;

export const timeMessages = {
  other: 'It is {{time}} in {{place}} ({{difference}})',
  same: 'It is {{time}} in {{place}}, the same as your time',
  working: '{{place}}, during working hours',
  notWorking: '{{place}}, outside working hours',
  ahead: '{{hours}} ahead of your time',
  behind: '{{hours}} behind your time',
} as const;
