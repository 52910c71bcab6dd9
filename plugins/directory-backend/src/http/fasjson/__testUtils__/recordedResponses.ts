import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A request to the reference implementation, and what it answered. */
export interface RecordedAnswer {
  readonly id: number;
  readonly principal: string | null;
  readonly method: string;
  readonly target: string;
  readonly request_headers: Readonly<Record<string, string>>;
  readonly request_body: string | null;
  readonly status: number;
  readonly body: string | null;
}

const fixtures = join(__dirname, '../__fixtures__/reference');

/** The directory that the reference was asked about. */
export const recordedDirectory = join(fixtures, 'people-200.ldif');

/** Everything that it was asked. */
export const recordedAnswers: readonly RecordedAnswer[] = readFileSync(
  join(fixtures, 'answers.jsonl'),
  'utf8',
)
  .trim()
  .split('\n')
  .map(line => JSON.parse(line));
