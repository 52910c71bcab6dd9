export const pagingMessages = {
  label: 'Pages',
  range: '{{from}} to {{to}} of {{total}}',
  first: 'First page',
  previous: 'Previous page',
  next: 'Next page',
  last: 'Last page',
} as const;
