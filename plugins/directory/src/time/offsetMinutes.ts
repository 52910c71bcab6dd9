/**
 * How far a time zone is ahead of UTC at a moment, in minutes; `undefined` for
 * a zone that the browser does not know. A directory takes any text.
 */
export function offsetMinutes(
  timeZone: string,
  moment: Date,
): number | undefined {
  try {
    const name = new Intl.DateTimeFormat('en-US', {
      timeZone,
      timeZoneName: 'longOffset',
    })
      .formatToParts(moment)
      .find(part => part.type === 'timeZoneName')?.value; // GMT+05:30
    const [, sign, hours, minutes] = name?.match(/([+-])(\d\d):(\d\d)/) ?? [];
    const size = sign ? Number(hours) * 60 + Number(minutes) : 0;
    return sign === '-' ? -size : size;
  } catch {
    return undefined;
  }
}
