/**
 * Formats a line of the portal's log, which is JSON in production, as text.
 * Returns other lines unchanged, and `undefined` for GET requests that
 * succeeded: the import into the catalog sends hundreds of them.
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
  if (
    record.type === 'incomingRequest' &&
    record.method === 'GET' &&
    record.status < 400
  ) {
    return undefined;
  }
  const text = level === 'info' ? message : (stack ?? message);
  return `${level} ${plugin ?? service ?? 'backstage'}: ${text}`;
}
