import { parseDuration } from '@internationalized/date';

/**
 * "30 days", "12 hours", "1 year" of an ISO 8601 duration in days, hours,
 * minutes and seconds, in the reader's language, in its largest unit.
 */
export function formatLifetime(duration: string): string {
  const {
    days = 0,
    hours = 0,
    minutes = 0,
    seconds = 0,
  } = parseDuration(duration);
  const units = [
    ['year', days % 365 === 0 ? days / 365 : 0],
    ['day', days],
    ['hour', hours],
    ['minute', minutes],
    ['second', seconds],
  ] as const;
  const [unit, value] = units.find(([, count]) => count > 0) ?? ['second', 0];
  return value.toLocaleString(undefined, {
    style: 'unit',
    unit,
    unitDisplay: 'long',
  });
}
