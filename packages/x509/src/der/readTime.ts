import { DerError } from './DerError';
import { DerNode, TAG } from './DerNode';

/** Minutes east of Greenwich, as old UTCTime values have it: `+0130`. */
const ZONE = /(?<zone>Z|[+-]\d{4})$/.source;
const UTC_TIME = new RegExp(
  `^(?<year>\\d\\d)(?<rest>\\d{8})(?<seconds>\\d\\d)?${ZONE}`,
);
const GENERALIZED_TIME = new RegExp(
  `^(?<year>\\d{4})(?<rest>\\d{8})(?<seconds>\\d\\d)?(?:\\.\\d+)?${ZONE}`,
);

/**
 * Reads a UTCTime or GeneralizedTime to the second. Takes what older certificates have besides the
 * one form of RFC 5280 §4.1.2.5: no seconds, a zone, a fraction (dropped).
 *
 * @throws DerError when it is no time, or no day of the calendar
 */
export function readTime(node: DerNode | undefined): Date {
  const text = node?.content.toString('latin1') ?? '';
  switch (node?.tag) {
    case TAG.utcTime:
      return toDate(UTC_TIME.exec(text)?.groups, inWindow);
    case TAG.generalizedTime:
      return toDate(GENERALIZED_TIME.exec(text)?.groups, year => year);
    default:
      throw new DerError('A time was expected');
  }
}

/** RFC 5280 §4.1.2.5.1: 50 to 99 are of the last century. */
function inWindow(year: string): string {
  return `${Number(year) >= 50 ? '19' : '20'}${year}`;
}

function toDate(
  groups: Record<string, string | undefined> | undefined,
  toYear: (text: string) => string,
): Date {
  const { year = '', rest = '', seconds = '00', zone = 'Z' } = groups ?? {};
  const [month, day, hour, minute] = rest.match(/\d\d/g) ?? [];
  const text = `${toYear(
    year,
  )}-${month}-${day}T${hour}:${minute}:${seconds}.000Z`;
  const date = new Date(text);
  // Date rolls 30 February over to March: only what exists comes back as it went in.
  if (Number.isNaN(date.getTime()) || date.toISOString() !== text) {
    throw new DerError('No time of the calendar');
  }
  return new Date(date.getTime() - toMilliseconds(zone));
}

function toMilliseconds(zone: string): number {
  if (zone === 'Z') {
    return 0;
  }
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3));
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000;
}
