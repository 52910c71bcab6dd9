import { wayGoals } from '../ways/wayGoals';
import type { WayResult } from '../ways/WayResult';
import { formatWays } from './formatWays';

const MEBIBYTE = 2 ** 20;

const copy: WayResult = {
  variant: 'replica',
  start: {
    firstAnswerMs: 3210,
    copiedMs: 8100,
    loopDelayMs: 12.5,
    maxLoopDelayMs: 80,
  },
  requests: 1000,
  memoryAtStart: { rssBytes: 500 * MEBIBYTE, usedBytes: 200 * MEBIBYTE },
  memoryAfterLoad: { rssBytes: 700 * MEBIBYTE, usedBytes: 250 * MEBIBYTE },
  ages: {
    ...{ writes: 240, p50Ms: 170, p95Ms: 390, p99Ms: 500, maxMs: 1200 },
    wrong: ['lock: /users/x/ answered 500'],
  },
};

const without: WayResult = {
  ...copy,
  variant: 'none',
  start: null,
  memoryAfterLoad: { rssBytes: 600 * MEBIBYTE, usedBytes: 150 * MEBIBYTE },
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
  const table = formatWays([copy, without], wayGoals(20_000));

  it('says what was reached of each goal', () => {
    expect(line(table, 'first right answer, s')).toEqual([
      ...['3.2', '', '≤ 5.0 met'],
    ]);
    expect(line(table, 'copy ready, s')).toEqual(['8.1', '', '≤ 8.0 missed']);
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
    expect(line(formatWays([copy], wayGoals(200)), 'copy ready, s')).toEqual([
      ...['8.1', ''],
    ]);
  });
});
