/** The page that a URL asks for, counted from 1; nonsense is the first. */
export function readPage(params: URLSearchParams): number {
  const page = params.get('page');
  return page && /^[1-9]\d{0,6}$/.test(page) ? Number(page) : 1;
}

/** A page in a URL: the first one is not mentioned. */
export function writePage(page: number): string | undefined {
  return page > 1 ? String(page) : undefined;
}
