import type { Memory } from '../portal/Portal';
import { wayGoals } from '../ways/wayGoals';
import type { WayResult } from '../ways/WayResult';
import { formatWays } from './formatWays';

const MEBIBYTE = 2 ** 20;

/** What a process held, in mebibytes. */
function memory(held: {
  readonly rss: number;
  readonly highest: number;
  readonly used: number;
}): Memory {
  return {
    rssBytes: held.rss * MEBIBYTE,
    highestRssBytes: held.highest * MEBIBYTE,
    usedBytes: held.used * MEBIBYTE,
  };
}

const portal: WayResult = {
  variant: 'replica',
  start: {
    firstAnswerMs: 3210,
    copiedMs: 8100,
    loopDelayMs: 12.5,
    maxLoopDelayMs: 80,
  },
  requests: 1000,
  memoryAtStart: memory({ rss: 500, highest: 550, used: 200 }),
  memoryAfterLoad: memory({ rss: 700, highest: 900, used: 250 }),
  ages: {
    writes: 240,
    p50Ms: 170,
    p95Ms: 390,
    p99Ms: 500,
    maxMs: 1200,
    wrong: ['lock: /users/x/ answered 500'],
  },
};

const without: WayResult = {
  ...portal,
  variant: 'none',
  start: null,
  memoryAfterLoad: memory({ rss: 600, highest: 650, used: 150 }),
  ages: null,
};

/** The cells of the line with this title. */
function line(table: string, title: string): readonly string[] {
  const found = table.split('\n').find(text => text.startsWith(`| ${title} `));
  return (found ?? '')
    .split('|')
    .slice(2, -1)
    .map(cell => cell.trim());
}

describe('formatWays', () => {
  const table = formatWays([portal, without], wayGoals(20_000));

  it('says what was reached of each goal', () => {
    expect(line(table, 'first right answer, s')).toEqual([
      ...['3.2', '', '≤ 5.0 met'],
    ]);
    expect(line(table, 'replica ready, s')).toEqual([
      '8.1',
      '',
      '≤ 8.0 missed',
    ]);
    expect(line(table, 'a write shows after, p99, ms')).toEqual([
      ...['500', '', '≤ 1000 met'],
    ]);
    expect(line(table, 'wrong answers')).toEqual(['1', '', '']);
  });

  it('takes what the server needs by itself from its memory', () => {
    expect(
      line(table, 'RSS after load above the server without it, MiB'),
    ).toEqual(['100', '', '≤ 114 met']);
  });

  it('knows no goals for a realm of another size', () => {
    expect(
      line(formatWays([portal], wayGoals(200)), 'replica ready, s'),
    ).toEqual([...['8.1', '']]);
  });
});
