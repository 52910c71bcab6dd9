import type { NotificationSendOptions } from '@backstage/plugin-notifications-node';
import type { CertificateDescription } from '@directory-gateway/x509';
import type { CertificateRecord } from '../records/CertificateRecords';

/** One day in milliseconds. */
export const DAY_MS = 24 * 60 * 60 * 1000;

/** Maximum days before expiry for the severity `high`. */
const URGENT_DAYS = 7;

/** A certificate that expires. */
export type ExpiringCertificate = Pick<
  CertificateRecord,
  'notAfter' | 'notBefore' | 'serialNumber' | 'username'
> &
  Partial<Pick<CertificateRecord, 'subjectId'>>;

/** A reminder that a certificate expires. */
export interface Reminder {
  readonly certificate: ExpiringCertificate;
  /** One of the configured numbers of days before expiry. */
  readonly daysBefore: number;
}

/**
 * Returns the reminder that is due now: the one closest to expiry. Earlier ones
 * are skipped, so that a portal that was down does not send several at once. No
 * reminder is due on the first day of a certificate's validity.
 */
export function findDueReminder(
  certificate: ExpiringCertificate,
  options: {
    /** Milliseconds since 1970. */
    readonly now: number;
    /** Numbers of days in ascending order. */
    readonly daysBefore: readonly number[];
  },
): Reminder | undefined {
  const { notBefore, notAfter } = certificate;
  const left = notAfter.getTime() - options.now;
  const daysBefore = options.daysBefore.find(days => left <= days * DAY_MS);
  const validity = notAfter.getTime() - notBefore.getTime();
  return left > 0 &&
    daysBefore !== undefined &&
    (daysBefore + 1) * DAY_MS <= validity
    ? { certificate, daysBefore }
    : undefined;
}

/** Composes the notification with serial number, subject and link. */
export function composeReminder(options: {
  readonly reminder: Reminder;
  readonly description: CertificateDescription;
  /** Entity references of the recipients. */
  readonly recipients: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
}): NotificationSendOptions {
  const { reminder, description, recipients, now } = options;
  const { serialNumber, subject, notAfter } = description;
  const days = Math.ceil((notAfter - now) / DAY_MS);
  const time = new Date(notAfter).toISOString().slice(0, 16).replace('T', ' ');
  return {
    recipients: { type: 'entity', entityRef: [...recipients] },
    payload: {
      title: `Your certificate expires in ${
        days === 1 ? '1 day' : `${days} days`
      }`,
      description: `The certificate of ${subject} with the serial number ${serialNumber} expires on ${time} UTC. Request a new one before then.`,
      link: `/directory/certificates/${serialNumber}`,
      severity: reminder.daysBefore <= URGENT_DAYS ? 'high' : 'normal',
      topic: 'certificate-expiry',
      // The notifications plugin updates a notification with the same scope, so
      // a reminder that is sent twice appears once.
      scope: `certificate-expiry:${serialNumber}:${reminder.daysBefore}`,
    },
  };
}
