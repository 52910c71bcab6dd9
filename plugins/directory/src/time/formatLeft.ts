const DAY = 24 * 60 * 60 * 1000;

/**
 * "in 12 days" or "3 days ago", in the reader's language: hours within a day
 * or two, years beyond two of them.
 */
export function formatLeft(end: Date, now: Date): string {
  const left = end.getTime() - now.getTime();
  const format = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
  const days = Math.trunc(left / DAY);
  if (Math.abs(days) > 730) {
    return format.format(Math.trunc(days / 365.25), 'year');
  }
  return Math.abs(left) < 2 * DAY
    ? format.format(Math.trunc(left / (DAY / 24)), 'hour')
    : format.format(days, 'day');
}
