import { judgeGrowth } from './judgeGrowth';

/** Sizes of so many minutes, to which each adds something. */
function sizes(minutes: number, size: (minute: number) => number): number[] {
  return Array.from({ length: minutes }, (_, minute) => 900 + size(minute));
}

/** Up and down by turns. */
function scatter(minute: number): number {
  return minute % 2 === 0 ? 1 : -1;
}

describe('judgeGrowth', () => {
  it('finds what would fill a machine in a week', () => {
    const growth = judgeGrowth(sizes(16, minute => minute / 4))!;
    expect(growth.kind).toBe('growing');
    expect(growth.slope).toBeCloseTo(15);
  });

  it('finds it behind what scatters', () => {
    expect(
      judgeGrowth(sizes(16, minute => minute / 4 + scatter(minute)))!.kind,
    ).toBe('growing');
  });

  it('takes what is certainly too little', () => {
    // 0.6 MiB an hour is a tenth of a GiB in a week.
    expect(judgeGrowth(sizes(16, minute => minute / 100))!.kind).toBe('flat');
  });

  it('takes what shrinks', () => {
    expect(judgeGrowth(sizes(16, minute => -minute))!.kind).toBe('flat');
  });

  it('does not call flat what scatters too much to be seen', () => {
    expect(judgeGrowth(sizes(16, minute => 20 * scatter(minute)))!.kind).toBe(
      'open',
    );
  });

  it('says nothing of two minutes', () => {
    expect(judgeGrowth([1, 2])).toBeUndefined();
  });
});
