import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import type { SavedFile } from '../../components/saveFile';

/** Words and links of a {@link reminderFile}. */
export interface ReminderOptions {
  title: string;
  description: string;

  /** Where to get the next one. */
  renewUrl: string;

  /** When it is made. Defaults to now. */
  now?: Date;
}

/** So many days before the end a calendar reminds. */
const ALARMS = [30, 14, 7, 1];

const DAY = 24 * 60 * 60 * 1000;

/**
 * An event at the end of a certificate, for any calendar (RFC 5545), with
 * alarms before it as far as they are still to come. It takes no time, so it
 * has no end (§3.6.1).
 */
export function reminderFile(
  certificate: Pick<Certificate, 'serial_number' | 'valid_not_after'>,
  options: ReminderOptions,
): SavedFile {
  const { serial_number, valid_not_after } = certificate;
  const { description, renewUrl, now = new Date() } = options;
  const end = new Date(valid_not_after);
  const title = escapeText(options.title);
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Directory gateway//Certificates//EN',
    'BEGIN:VEVENT',
    `UID:certificate-${serial_number}@${new URL(renewUrl).hostname}`,
    `DTSTAMP:${toUtc(now)}`,
    `DTSTART:${toUtc(end)}`,
    `SUMMARY:${title}`,
    `DESCRIPTION:${escapeText(`${description}\n${renewUrl}`)}`,
    `URL:${renewUrl}`,
    'TRANSP:TRANSPARENT',
    ...ALARMS.filter(
      days => end.getTime() - days * DAY > now.getTime(),
    ).flatMap(days => [
      'BEGIN:VALARM',
      'ACTION:DISPLAY',
      `DESCRIPTION:${title}`,
      `TRIGGER:-P${days}D`,
      'END:VALARM',
    ]),
    'END:VEVENT',
    'END:VCALENDAR',
  ];
  return {
    name: `certificate-${serial_number}.ics`,
    type: 'text/calendar;charset=utf-8',
    content: lines.map(line => `${fold(line)}\r\n`).join(''),
  };
}

function toUtc(date: Date): string {
  return date.toISOString().replace(/[-:]|\.\d+/g, '');
}

function escapeText(text: string): string {
  return text.replace(/[\\;,]/g, '\\$&').replace(/\n/g, '\\n');
}

/** Lines have at most 75 octets (RFC 5545 §3.1). */
function fold(line: string): string {
  const encoder = new TextEncoder();
  let folded = '';
  let length = 0;
  for (const character of line) {
    const size = encoder.encode(character).length;
    if (length + size > 75) {
      folded += '\r\n ';
      length = 1;
    }
    folded += character;
    length += size;
  }
  return folded;
}
