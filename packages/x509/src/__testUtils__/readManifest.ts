import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(__dirname, '..', '__fixtures__', 'csrs');

/** A file and the expected decision when alice submits it. */
export interface ManifestRow {
  file: string;
  description: string;
  expected: 'sign' | 'reject';
}

export function readManifest(): ManifestRow[] {
  const lines = readFileSync(join(FOLDER, 'manifest.jsonl'), 'utf8')
    .trim()
    .split('\n');
  return lines.map(line => JSON.parse(line));
}

export function readFixture(file: string): string {
  return readFileSync(join(FOLDER, file), 'utf8');
}
