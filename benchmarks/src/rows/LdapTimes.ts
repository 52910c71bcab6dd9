import { milliseconds } from '../load/milliseconds';
import type { Question } from '../questions/Question';
import { SeededRandom } from '../SeededRandom';
import { settings } from '../settings';
import type { MeasuredRealm } from '../withRealm';
import { askDirectory } from './askDirectory';

/** How long the directory itself takes for questions, asked once for each. */
export class LdapTimes {
  readonly #measured: Pick<MeasuredRealm, 'directory' | 'people'>;
  readonly #times = new Map<string, number | null>();

  constructor(measured: Pick<MeasuredRealm, 'directory' | 'people'>) {
    this.#measured = measured;
  }

  /**
   * The median in milliseconds; `null` when the directory knows nothing of it.
   *
   * @throws Error when the directory answers something else than the gateway
   *   would have to
   */
  async of(question: Question, signal: AbortSignal): Promise<number | null> {
    const known = this.#times.get(question.name);
    if (known !== undefined) {
      return known;
    }
    const { directory, people } = this.#measured;
    const random = new SeededRandom(settings.seed);
    const histogram = await askDirectory({
      directory,
      signal,
      draw: () => question.draw(random, random.pick(people.usernames)),
      ms: settings.directMs,
      atLeast: settings.directTimes,
    });
    const time = histogram ? milliseconds(histogram, 50) : null;
    this.#times.set(question.name, time);
    return time;
  }
}
