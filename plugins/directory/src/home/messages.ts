export const homeMessages = {
  search: {
    title: 'Search people and groups',
    placeholder: 'Search people and groups…',
  },
  groups: {
    title: 'My groups',
    all: 'All groups',
    more: 'and {{number}} more',
    none: 'You are not a member of any group. To join a group, open its page and contact one of its sponsors.',
    notMapped:
      'Your account is not linked to a directory user, so you are not a member of any group.',
  },
  changes: {
    title: 'Recent changes',
    addedYou: 'You were added to {{group}}',
    removedYou: 'You were removed from {{group}}',
    added: '{{name}} was added to {{group}}',
    removed: '{{name}} was removed from {{group}}',
  },
  certificates: {
    title: 'My certificates',
    all: 'All certificates',
    none: 'You have no valid certificates from this portal.',
    fine: 'No certificates need your attention. The next one expires {{left}}.',
    notMapped:
      'Your account is not linked to a directory user. Only directory users have certificates.',
  },
  recent: {
    title: 'Recently visited',
    all: 'All people',
    none: 'People whose pages you visit appear here.',
  },
  colleagues: {
    more: 'More people',
    none: 'People who share a group with you appear here.',
  },
} as const;
