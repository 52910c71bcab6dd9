/**
 * Formats a line of the portal's log, which is JSON in production, as text.
 * Returns other lines unchanged.
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
