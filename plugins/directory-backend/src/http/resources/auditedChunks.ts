import type { AuditorServiceEvent } from '@backstage/backend-plugin-api';
import { toError } from '@backstage/errors';

/** Some rows of a file. */
export interface Portion {
  readonly rows: number;
  readonly text: string;
}

/**
 * The text of a file with an audit event round it, made when the first portion
 * is asked for: how many rows were given away, and whether that was all.
 */
export async function* auditedChunks(
  portions: AsyncIterable<Portion>,
  createEvent: () => Promise<AuditorServiceEvent>,
): AsyncGenerator<string, void, undefined> {
  const event = await createEvent();
  let rows = 0;
  let error: unknown = new Error('The caller left before the end');
  try {
    for await (const portion of portions) {
      rows += portion.rows;
      yield portion.text;
    }
    error = undefined;
  } catch (thrown) {
    error = thrown;
    throw thrown;
  } finally {
    const meta = { rows };
    await (error === undefined
      ? event.success({ meta })
      : event.fail({ meta, error: toError(error) }));
  }
}
