import type { NotificationSendOptions } from '@backstage/plugin-notifications-node';
import type { CertificateDescription } from '@directory-gateway/x509';
import { DAY_MS, type Reminder } from './reminder';

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
