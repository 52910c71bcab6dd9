export const groupsMessages = {
  search: {
    label: 'Look for groups',
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
  link: {
    url: 'Website',
    mailingList: 'Mailing list',
    discussion: 'Discussion',
    irc: 'IRC channel',
    matrix: 'Matrix room',
    other: 'Channel',
  },
  linkOf: '{{kind}} of {{group}}: {{text}}',
  nothing: {
    title: 'No group found',
    searched: 'No group has “{{text}}” in its name or description.',
    everything: 'Show all groups',
    empty: 'There are no groups',
    emptyHint: 'The directory has no group to show.',
    pastEnd: 'There is no page {{page}}',
    firstPage: 'Go to the first page',
  },
} as const;
