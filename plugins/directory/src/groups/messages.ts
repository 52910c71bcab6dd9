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
  total_one: '{{number}} group',
  total_other: '{{number}} groups',
  linkOf: '{{kind}} of {{group}}: {{text}}',
  noResults: {
    title: 'No groups found',
    searched: 'No group has “{{text}}” in its name or description.',
    showAll: 'Show all groups',
    empty: 'There are no groups',
    emptyHint: 'The directory has no groups to show.',
  },
} as const;
