import type { ExpiringCertificate } from '@directory-gateway/backstage-plugin-directory-node';
import type { NotificationSendOptions } from '@backstage/plugin-notifications-node';
import type { CertificateDescription } from '@directory-gateway/x509';

/** A day, in milliseconds. */
export const DAY_MS = 24 * 60 * 60 * 1000;

/** One message about one certificate. */
export interface Reminder {
  readonly certificate: ExpiringCertificate;
  /** The step that it belongs to: days before the end. */
  readonly daysBefore: number;
}

/**
 * The message that is due for a certificate now: that of the step closest to
 * its end. Steps that passed while nobody looked are left out, so that a portal
 * that was down does not send three messages at once.
 *
 * A step within the first day of a certificate's life is none: who has just
 * asked for a certificate of 30 days knows that it ends in 30 days.
 */
export function findDueReminder(
  certificate: ExpiringCertificate,
  options: {
    /** Milliseconds since 1970. */
    readonly now: number;
    /** The fewest first. */
    readonly daysBefore: readonly number[];
  },
): Reminder | undefined {
  const { notBefore, notAfter } = certificate;
  const left = notAfter.getTime() - options.now;
  const step = options.daysBefore.find(days => left <= days * DAY_MS);
  const life = notAfter.getTime() - notBefore.getTime();
  return left > 0 && step !== undefined && (step + 1) * DAY_MS <= life
    ? { certificate, daysBefore: step }
    : undefined;
}

/** So close to the end a message stands out among others. */
const URGENT_DAYS = 7;

/** The message of a reminder, with serial number, subject and link. */
export function composeReminder(options: {
  readonly reminder: Reminder;
  readonly described: CertificateDescription;
  /** Entity references of whom it is for. */
  readonly recipients: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
}): NotificationSendOptions {
  const { reminder, described, recipients, now } = options;
  const { serialNumber, subject, notAfter } = described;
  const days = Math.ceil((notAfter - now) / DAY_MS);
  const end = new Date(notAfter).toISOString().slice(0, 16).replace('T', ' ');
  return {
    recipients: { type: 'entity', entityRef: [...recipients] },
    payload: {
      title: `Your certificate ends in ${
        days === 1 ? '1 day' : `${days} days`
      }`,
      description: `The certificate of ${subject} with the serial number ${serialNumber} ends on ${end} UTC. Request a new one before then.`,
      link: `/directory/certificates/${serialNumber}`,
      severity: reminder.daysBefore <= URGENT_DAYS ? 'high' : 'normal',
      topic: 'certificate-expiry',
      // The notifications plugin updates a message of the same scope: should
      // one be sent again, the reader still has it once.
      scope: `certificate-expiry:${serialNumber}:${reminder.daysBefore}`,
    },
  };
}
