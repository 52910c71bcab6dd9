export const entityMessages = {
  openCatalog: 'Open in the catalog',
  title: 'In the directory',
  open: 'Open the directory page',
  more_one: 'and {{count}} more',
  more_other: 'and {{count}} more',
  notFoundHint:
    'It may have been renamed or deleted, or the URL is misspelled.',
  searchFor: 'Search for {{name}}',
  user: {
    notFound: 'User {{name}} not found',
    unknown: 'User {{name}} is not in the directory.',
    groups_one: '{{number}} group',
    groups_other: '{{number}} groups',
    noGroups: 'No groups.',
  },
  certificates: {
    title: 'Certificates',
    none: 'No valid certificates.',
    expires: 'Expires {{left}}',
    open: 'All certificates',
  },
  group: {
    notFound: 'Group {{name}} not found',
    unknown: 'Group {{name}} is not in the directory.',
    members_one: '{{number}} member',
    members_other: '{{number}} members',
    sponsors: 'Sponsors',
    noSponsors: 'No sponsors.',
  },
  failed: 'The directory is unavailable.',
} as const;
