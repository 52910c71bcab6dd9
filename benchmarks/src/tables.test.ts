import type { PortalResult } from './measurePortal';
import type { Row } from './measureRows';
import {
  formatPortals,
  formatRates,
  formatRows,
  formatSizes,
  missedPromises,
  type Results,
} from './tables';

const row: Row = {
  name: '/me/',
  people: 20_000,
  reads: 'replica',
  mode: 'negotiate',
  connections: 16,
  rps: 1600.4,
  rps_min: 1500,
  rps_max: 1700,
  limit_rps: 8000,
  route_rps: 2500,
  route_margin: 0.04,
  p50_ms: 0.512,
  p99_ms: 12.3,
  samples: 500,
  load_p50_ms: 9.5,
  load_p99_ms: 20,
  ldap_p50_ms: 0.25,
  goal_ratio: 0.6,
  goal_p50_ms: null,
  portal_cpu_us: 480,
  portal_cpu: 0.98,
  noise_cpu: 0.01,
  generator_cpu: 0.5,
  event_loop_delay_p99_ms: 3,
};

function memory(rss: number, highest: number, used: number) {
  const mebibyte = 2 ** 20;
  return {
    rssBytes: rss * mebibyte,
    highestRssBytes: highest * mebibyte,
    usedBytes: used * mebibyte,
  };
}

const portal: PortalResult = {
  variant: 'replica',
  start: {
    firstResponseMs: 3210,
    syncedMs: 8100,
    loopDelayMs: 12.5,
    maxLoopDelayMs: 80,
  },
  requests: 1000,
  memoryAtStart: memory(500, 550, 200),
  memoryAfterLoad: memory(700, 900, 250),
  ages: {
    writes: 240,
    p50Ms: 170,
    p95Ms: 390,
    p99Ms: 500,
    maxMs: 1200,
    wrong: ['lock: /users/x/ returned 500'],
  },
};

const without: PortalResult = {
  ...portal,
  variant: 'none',
  start: null,
  memoryAfterLoad: memory(600, 650, 150),
  ages: null,
};

function results(change: Partial<Results>): Results {
  return {
    users: 20_000,
    machine: {},
    settings: {},
    ways: [portal, without],
    rows: [row],
    ...change,
  };
}

/** Returns the cells below a title of the header. */
function columnOf(table: string, title: string): readonly string[] {
  const [head, , ...lines] = table.split('\n').map(cellsOf);
  return lines.map(cells => cells[head.indexOf(title)]);
}

/** Returns the cells of the line with a title. */
function lineOf(table: string, title: string): readonly string[] {
  const lines = table.split('\n').map(cellsOf);
  return (lines.find(([name]) => name === title) ?? []).slice(1);
}

function cellsOf(line: string): readonly string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map(cell => cell.trim());
}

describe('formatRows', () => {
  it('formats a Markdown table with columns of equal width', () => {
    const other = { ...row, name: '/users/{u}/', mode: 'session' } as const;
    const lines = formatRows([row, other]).split('\n');
    expect(lines).toHaveLength(4);
    expect(new Set(lines.map(line => line.length)).size).toBe(1);
    expect(lines[2]).toContain(
      '| `/me/`        | SPNEGO token   | 1,600 (1,500–1,7',
    );
    expect(lines[3]).toContain('| `/users/{u}/` | session cookie |');
  });

  it('shows the limit, the route, and the share of the route', () => {
    const table = formatRows([row]);
    expect(columnOf(table, 'limit/s')).toEqual(['8,000']);
    expect(columnOf(table, 'route/s')).toEqual(['2,500']);
    expect(columnOf(table, 'of route')).toEqual(['64 % ± 4 %']);
  });

  it('marks an interval that is too wide', () => {
    const table = formatRows([{ ...row, route_margin: 0.06 }]);
    expect(columnOf(table, 'of route')).toEqual(['64 % ± 6 %, too wide']);
  });

  it('leaves cells without a measurement empty', () => {
    const table = formatRows([{ ...row, ldap_p50_ms: null, route_rps: null }]);
    expect(columnOf(table, 'LDAP p50')).toEqual(['']);
    expect(columnOf(table, 'of route')).toEqual(['']);
  });

  it.each([
    [{}, '≥ 60 % met'],
    [{ rps: 1550 }, '≥ 60 % undecided'],
    [{ rps: 1450 }, '≥ 60 % undecided'],
    [{ rps: 1399 }, '≥ 60 % missed'],
    [{ route_margin: 0.06 }, '≥ 60 % undecided'],
    [{ route_margin: undefined }, '≥ 60 % undecided'],
    [{ goal_p50_ms: 0.6 }, '≥ 60 % met, p50 ≤ 0.6 ms met'],
    [{ goal_p50_ms: 0.5 }, '≥ 60 % met, p50 ≤ 0.5 ms missed'],
    [{ goal_ratio: null, goal_p50_ms: 1 }, 'p50 ≤ 1 ms met'],
    [{ goal_ratio: null }, ''],
  ])('shows the goal of %j as %p', (change, expected) => {
    const table = formatRows([{ ...row, ...change }]);
    expect(columnOf(table, 'goal')).toEqual([expected]);
  });

  it.each([
    [1400, '114 %, ≥ 80 % met'],
    [1900, '84 %, ≥ 80 % undecided'],
    [2400, '67 %, ≥ 80 % missed'],
  ])(
    'compares the share of the route with that of %d requests/s with fewer users',
    (rps, expected) => {
      const baseline = results({ rows: [{ ...row, rps }] });
      const table = formatRows([row, { ...row, mode: 'token' }], baseline);
      expect(columnOf(table, 'of 20,000 users')).toEqual([expected, '']);
    },
  );
});

describe('formatRates', () => {
  it('returns a line for each request and a column for each mode', () => {
    const table = formatRates([
      row,
      { ...row, mode: 'session', rps: 3000, p50_ms: 1 },
    ]);
    expect(lineOf(table, '`/me/`')).toEqual([
      '3,000',
      '1,600',
      '',
      '0.5',
      '0.5',
    ]);
  });
});

describe('formatSizes', () => {
  it('shows the portal with the plugin', () => {
    const table = formatSizes([results({ ways: [without, portal] })]);
    expect(lineOf(table, '20,000')).toEqual(['8.1', '13', '0.17', '0.50']);
  });
});

describe('formatPortals', () => {
  it('shows whether the portal meets the goals', () => {
    const table = formatPortals([results({})]);
    expect(lineOf(table, 'users, plugin')).toEqual([
      '20,000, with',
      '20,000, without',
    ]);
    expect(lineOf(table, 'first correct response, s')).toEqual(['3.2', '']);
    expect(lineOf(table, 'first sync finished, s')).toEqual([
      '8.1, ≤ 8.0 missed',
      '',
    ]);
    expect(lineOf(table, 'write visible after, p99, ms')).toEqual([
      '500, ≤ 1000 met',
      '',
    ]);
    expect(lineOf(table, 'wrong responses during the writes')).toEqual([
      '1',
      '',
    ]);
  });

  it('subtracts the memory of the server without the plugin', () => {
    expect(
      lineOf(
        formatPortals([results({})]),
        'RSS above the server without it, MiB',
      ),
    ).toEqual(['100, ≤ 114 met', '']);
  });

  it('shows the promises to users, and omits lines without a result', () => {
    const { ages } = portal;
    const fast = { p50: 1000, p95: 2000, max: 5000 };
    const slow = { p50: 2000, p95: 5000, max: 21_000 };
    const ways = [
      { ...portal, ages: { ...ages!, refusedMs: fast, unlistedMs: slow } },
    ];
    const table = formatPortals([results({ ways })]);
    const title = 'preserved user unlisted after, max, s';
    expect(lineOf(table, title)).toEqual(['21.0, ≤ 20.0 missed']);
    expect(formatPortals([results({})])).not.toContain('locked account');
    expect(missedPromises(results({ ways }))).toEqual([title]);
    expect(missedPromises(results({ ways, users: 2000 }))).toEqual([title]);
    expect(missedPromises(results({ ways, users: 100_000 }))).toEqual([]);
  });

  it('does not keep promises that were not measured', () => {
    expect(missedPromises(results({}))).toEqual([
      'locked account refused after, max, s',
      'preserved user unlisted after, max, s',
    ]);
    const empty = { p50: NaN, p95: NaN, max: NaN };
    const ages = { ...portal.ages!, refusedMs: empty, unlistedMs: empty };
    const ways = [{ ...portal, ages }];
    expect(missedPromises(results({ ways }))).toHaveLength(2);
    // `ONLY` selected other measurements.
    expect(missedPromises(results({ ways: [without] }))).toEqual([]);
  });

  it('does not show goals for other numbers of users', () => {
    const table = formatPortals([results({ users: 200, ways: [portal] })]);
    expect(lineOf(table, 'first sync finished, s')).toEqual(['8.1']);
  });
});
