import type { Answer } from './GatewayClient';

/** What an answer is about: a record. */
export function resultOf({
  json,
}: Pick<Answer, 'json'>): Record<string, unknown> {
  return (json as { result: Record<string, unknown> }).result;
}

/** The serial number in an answer: as a number of JSON it would lose digits. */
export function serialOf({ text }: Pick<Answer, 'text'>): string {
  return /"serial_number": ?(\d+)/.exec(text)?.[1] ?? `none: ${text}`;
}
