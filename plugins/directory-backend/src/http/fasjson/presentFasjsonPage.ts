import type { Page, PageRequest } from '../../directory/Page';
import type { Call } from '../api/Operation';
import { parsePythonInteger } from './parseFasjsonPage';
import { rawInteger } from '../response/rawInteger';

/**
 * A list as the reference wraps it: with an object `page` when it is
 * paginated, and without when it is whole. `next_page` keeps every parameter.
 */
export function presentFasjsonPage(
  shown: Page<unknown>,
  options: {
    readonly page: PageRequest | undefined;
    readonly call: Pick<Call, 'uri' | 'query'>;
  },
): unknown {
  const { page, call } = options;
  if (!page) {
    return { result: shown.items };
  }
  const totalPages = Math.ceil(shown.total / page.size);
  return {
    result: shown.items,
    page: {
      total_results: shown.total,
      page_size: exactly('page_size', page.size, call),
      page_number: exactly('page_number', page.number, call),
      total_pages: totalPages,
      ...(page.number < totalPages && { next_page: nextPage(page, call) }),
    },
  };
}

/** The requested number, which may be larger than a double holds. */
function exactly(
  name: 'page_size' | 'page_number',
  value: number,
  { query }: Pick<Call, 'query'>,
): unknown {
  return rawInteger(parsePythonInteger(query.get(name)) ?? BigInt(value));
}

function nextPage(
  page: PageRequest,
  { uri, query }: Pick<Call, 'uri' | 'query'>,
): string {
  const next = new URLSearchParams(query);
  next.delete('page_size');
  next.delete('page_number');
  next.append('page_size', String(page.size));
  next.append('page_number', String(page.number + 1));
  return `${uri}?${next}`;
}
