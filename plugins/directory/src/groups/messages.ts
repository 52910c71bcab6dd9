export const groupsMessages = {
  search: {
    label: 'Search groups',
    placeholder: 'Part of a group’s name or description…',
  },
  column: {
    group: 'Group',
    description: 'Description',
    members: 'Members',
    links: 'Links',
  },
  filter: {
    label: 'Groups to show',
    all: 'All groups',
    mine: 'My groups',
  },
  total_one: '{{number}} group',
  total_other: '{{number}} groups',
  linkOf: '{{kind}} of {{group}}: {{text}}',
  noResults: {
    title: 'No groups found',
    searched: 'No group has “{{text}}” in its name or description.',
    searchedMine:
      'None of your groups has “{{text}}” in its name or description.',
    mine: 'You are not a member of any group.',
    showAll: 'Show all groups',
    empty: 'There are no groups',
    emptyHint: 'The directory has no groups to show.',
  },
} as const;
