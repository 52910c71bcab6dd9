import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A request that the gateway answers in another way than the reference. */
export interface DocumentedDifference {
  /** What the gateway does. */
  readonly what: string;
  /** The status of its answer. */
  readonly status: number;
}

const document = join(__dirname, '../../../../../../docs/fasjson-differences.md');

/**
 * The differences to the reference by the number of the recorded request, as
 * the tables of the document have them: the last two cells of a row are the
 * status of the gateway's answer and the requests.
 */
export const documentedDifferences: ReadonlyMap<number, DocumentedDifference> =
  new Map(
    readFileSync(document, 'utf8')
      .split('\n')
      .map(line => line.split('|').map(cell => cell.trim()))
      .filter(cells => /^\d{3}$/.test(cells.at(-3) ?? ''))
      .flatMap(cells =>
        cells
          .at(-2)!
          .split(',')
          .map(id => [
            Number(id),
            { what: cells.at(-4)!, status: Number(cells.at(-3)) },
          ]),
      ),
  );
