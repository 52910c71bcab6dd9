/** The ends of a long serial number; the whole of it is to copy. */
export function shortenSerial(serial: string): string {
  return serial.length > 16
    ? `${serial.slice(0, 8)}…${serial.slice(-6)}`
    : serial;
}
