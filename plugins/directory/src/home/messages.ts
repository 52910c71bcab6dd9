export const homeMessages = {
  search: {
    title: 'Search people and groups',
    placeholder: 'Search people and groups…',
  },
  groups: {
    title: 'My groups',
    all: 'All groups',
    more: 'and {{number}} more',
    none: 'You are in no groups. Sponsors add members to a group: the page of the group shows who they are.',
    notMapped: 'Your account has no directory user, so it is in no groups.',
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
    none: 'You have no valid certificates.',
    fine: 'No certificate needs your attention. The next one expires {{left}}.',
    notMapped:
      'Your account has no directory user. Only directory users have certificates.',
  },
  recent: {
    title: 'Recently opened',
    all: 'All people',
    none: 'People whose pages you open appear here.',
  },
  colleagues: {
    more: 'More people',
    none: 'You share no group with other people. When you do, they appear here.',
  },
} as const;
