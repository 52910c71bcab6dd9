import type { EndingCertificate } from '@directory-gateway/backstage-plugin-directory-node';

/** A day, in milliseconds. */
export const DAY_MS = 24 * 60 * 60 * 1000;

/** One message about one certificate. */
export interface Reminder {
  readonly certificate: EndingCertificate;
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
  certificate: EndingCertificate,
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
