/**
 * A request's URL with every path segment made decodable. Express answers 400
 * to a segment such as `%ff` before any route sees it; spelled out as text it
 * reaches its route, where it is no name and gets the resource's own 404.
 */
export function decodablePath(url: string): string {
  const [path, ...query] = url.split('?');
  const segments = path.split('/').map(segment => {
    try {
      decodeURIComponent(segment);
      return segment;
    } catch {
      return encodeURIComponent(segment);
    }
  });
  return [segments.join('/'), ...query].join('?');
}
