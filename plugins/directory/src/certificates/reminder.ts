import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { type SavedFile, saveFile } from '../components/saveFile';
import { requestCertificateRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import { useCertificateName } from './Facts';

/**
 * Returns a function that downloads a calendar reminder for the expiry of a
 * certificate.
 */
export function useReminder() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const renewHref = useRenewHref();
  const nameOf = useCertificateName();

  return (
    certificate: Pick<
      Certificate,
      'extended_key_usage' | 'label' | 'serial_number' | 'valid_not_after'
    >,
  ) =>
    saveFile(
      reminderFile(certificate, {
        title: t('certificate.reminderTitle', {
          name: nameOf(certificate),
        }),
        description: t('certificate.reminderDescription', {
          serial: String(certificate.serial_number),
        }),
        renewUrl: new URL(renewHref(certificate), window.location.origin).href,
      }),
    );
}

/**
 * Returns a function that returns the path of the renewal page of a
 * certificate.
 */
export function useRenewHref() {
  const path = useRouteRef(requestCertificateRouteRef)?.() ?? '/';
  return ({ serial_number }: Pick<Certificate, 'serial_number'>) =>
    `${path}?renew=${serial_number}`;
}

/** Alarms, in days before expiry. */
const ALARMS = [30, 14, 7, 1];

const DAY = 24 * 60 * 60 * 1000;

/**
 * Returns a calendar file (RFC 5545) with an event at the expiry of a
 * certificate and its future alarms. An event without an end has no duration
 * (§3.6.1).
 */
export function reminderFile(
  certificate: Pick<Certificate, 'serial_number' | 'valid_not_after'>,
  options: {
    title: string;
    description: string;

    /** URL of the renewal page. */
    renewUrl: string;

    /** Creation time of the file. Defaults to now. */
    now?: Date;
  },
): SavedFile {
  const { serial_number, valid_not_after } = certificate;
  const { description, renewUrl, now = new Date() } = options;
  const expiry = new Date(valid_not_after);
  const title = escapeText(options.title);
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Directory gateway//Certificates//EN',
    'BEGIN:VEVENT',
    `UID:certificate-${serial_number}@${new URL(renewUrl).hostname}`,
    `DTSTAMP:${toUtc(now)}`,
    `DTSTART:${toUtc(expiry)}`,
    `SUMMARY:${title}`,
    `DESCRIPTION:${escapeText(`${description}\n${renewUrl}`)}`,
    `URL:${renewUrl}`,
    'TRANSP:TRANSPARENT',
    ...ALARMS.filter(
      days => expiry.getTime() - days * DAY > now.getTime(),
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

/** Folds a line after 75 octets (RFC 5545 §3.1). */
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
