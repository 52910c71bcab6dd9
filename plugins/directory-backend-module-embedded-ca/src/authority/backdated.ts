/**
 * Kerberos lets clocks differ by 5 minutes (RFC 4120 §1.6): whoever can ask for
 * a certificate has a clock that is good to that.
 */
const CLOCK_SKEW_MS = 5 * 60 * 1000;

/**
 * From when on something that is signed now is valid: a little earlier, so that
 * a client whose clock is late does not take it for one from the future.
 *
 * @param now - milliseconds since 1970
 */
export function backdated(now: number): Date {
  return new Date(now - CLOCK_SKEW_MS);
}
