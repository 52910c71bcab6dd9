import type { AskOptions } from './GatewayClient';

/** A request with these parameters, as `curl -d` sends it. */
export function form(parameters: Record<string, string>) {
  return {
    method: 'POST',
    body: String(new URLSearchParams(parameters)),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  } satisfies AskOptions;
}

/** The same, as `curl -F` sends it. */
export function multipart(parameters: Record<string, string>) {
  return {
    method: 'POST',
    body: [
      ...Object.entries(parameters).map(
        ([name, value]) =>
          `--frame\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
      ),
      '--frame--\r\n',
    ].join(''),
    headers: { 'Content-Type': 'multipart/form-data; boundary=frame' },
  } satisfies AskOptions;
}
