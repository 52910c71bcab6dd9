/** A mark on the time axis. */
export interface Tick {
  date: Date;

  /** How far from the left, in percent. */
  at: number;
}

/** Where moments are on a time axis. */
export interface TimeScale {
  /** How far from the left a moment is, in percent. */
  at: (date: Date) => number;

  ticks: readonly Tick[];

  /** What a tick says: the year, the month or the day. */
  unit: 'year' | 'month' | 'day';
}

const DAY = 24 * 60 * 60 * 1000;

/** About so many marks fit. */
const MARKS = 6;

/** Lays an axis that has room for every span and for now. */
export function scaleTimeline(
  spans: readonly { start: Date; end: Date }[],
  now: Date,
): TimeScale {
  const times = [
    now.getTime(),
    ...spans.flatMap(({ start, end }) => [start.getTime(), end.getTime()]),
  ];
  const margin = Math.max(DAY, (Math.max(...times) - Math.min(...times)) / 50);
  const from = Math.min(...times) - margin;
  const to = Math.max(...times) + margin;
  const at = (date: Date) => ((date.getTime() - from) / (to - from)) * 100;
  const { unit, dates } = markDates(from, to);
  return { at, unit, ticks: dates.map(date => ({ date, at: at(date) })) };
}

function markDates(
  from: number,
  to: number,
): { unit: TimeScale['unit']; dates: Date[] } {
  const days = (to - from) / DAY;
  if (days > 730) {
    const step = Math.ceil(days / 365 / MARKS);
    return { unit: 'year', dates: stepDates({ from, to, months: 12 * step }) };
  }
  if (days > 80) {
    const step = Math.ceil(days / 30 / MARKS);
    return { unit: 'month', dates: stepDates({ from, to, months: step }) };
  }
  const step = Math.max(1, Math.ceil(days / MARKS));
  const dates: Date[] = [];
  const day = new Date(from);
  day.setHours(24, 0, 0, 0); // the next midnight of the reader
  while (day.getTime() < to) {
    dates.push(new Date(day));
    day.setDate(day.getDate() + step);
  }
  return { unit: 'day', dates };
}

function stepDates(options: { from: number; to: number; months: number }) {
  const { from, to, months } = options;
  const start = new Date(from);
  const month = months % 12 === 0 ? 12 : start.getMonth() + 1;
  const dates: Date[] = [];
  for (
    let date = new Date(start.getFullYear(), month);
    date.getTime() < to;
    date = new Date(date.getFullYear(), date.getMonth() + months)
  ) {
    dates.push(date);
  }
  return dates;
}
