/**
 * A line of the portal's log for a person: in production Backstage writes JSON.
 * A line that is not JSON comes back as it is.
 */
export function plainLogLine(line) {
  let record;
  try {
    record = JSON.parse(line);
  } catch {
    return line;
  }
  if (typeof record?.message !== 'string') {
    return line;
  }
  const { level, plugin, service, message, stack } = record;
  return `${level} ${plugin ?? service ?? 'backstage'}: ${stack ?? message}`;
}
