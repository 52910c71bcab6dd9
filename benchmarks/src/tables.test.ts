import {
  formatTables,
  missedPromises,
  replaceTables,
  type Results,
} from './tables';

const kept = {
  'minutes under load': 10,
  'request (p99), ms': 61.4,
  errors: 0,
  'write visible (p99), ms': 600,
  'locked account refused (max), ms': 4200,
  'preserved user not listed (max), ms': 15_000,
};

const results: Results = {
  date: '2026-12-01',
  commit: 'abc1234',
  users: 20_000,
  machine: '2 × CPU, Node.js v24, load average 0.1 before',
  rows: [
    {
      name: '/me/',
      credential: 'session cookie',
      rate: 4327.6,
      routeRate: 5472.7,
      ratio: 0.791,
      margin: 0.043,
      rounds: 8,
      goal: 0.6,
      cpuUs: 225.04,
    },
    {
      name: 'POST /certs/ P-256',
      credential: 'SPNEGO token',
      rate: 261.2,
      routeRate: 2348,
      ratio: 0.11,
      margin: 0.01,
      rounds: 6,
      cpuUs: 4252,
    },
  ],
  portals: {
    SQLite: { 'RSS at rest, MiB': 686.4, 'longest stop at rest, ms': 3.25 },
    PostgreSQL: { 'RSS at rest, MiB': 453, ...kept },
  },
};

describe('missedPromises', () => {
  const measure = (values: object) =>
    missedPromises({
      ...results,
      portals: { PostgreSQL: { ...kept, ...values } },
    });

  it('is empty when all are kept, even if a goal is missed', () => {
    expect(missedPromises(results)).toEqual([]);
  });

  it.each([
    ['errors', 1],
    ['write visible (p99), ms', 1001],
    ['locked account refused (max), ms', 5001],
    ['preserved user not listed (max), ms', 20_001],
  ])('contains %s of %d', (title, value) => {
    expect(measure({ [title]: value })).toEqual([title]);
  });

  it('contains what was not measured', () => {
    expect(measure({ errors: undefined })).toEqual(['errors']);
    expect(missedPromises({ ...results, portals: {} })).toHaveLength(4);
  });

  it('allows lists more time with 100,000 users', () => {
    const values = { ...kept, 'preserved user not listed (max), ms': 89_000 };
    const large = {
      ...results,
      users: 100_000,
      portals: { PostgreSQL: values },
    };
    expect(missedPromises(large)).toEqual([]);
  });
});

describe('formatTables', () => {
  const [run, rows, portals] = formatTables(results).split('\n\n');

  it('names date, size, commit and machine of the run', () => {
    expect(run).toBe(
      'Measured on 2026-12-01 with 20,000 users, commit abc1234: 2 × CPU, Node.js v24, load average 0.1 before.',
    );
  });

  it('prints each ratio with its interval and verdict', () => {
    expect(rows.split('\n')).toEqual([
      '| Request              | Credential     | Requests/s | Bare route/s | Ratio      | Goal        | CPU, µs |',
      '| -------------------- | -------------- | ---------- | ------------ | ---------- | ----------- | ------- |',
      '| `/me/`               | session cookie | 4,328      | 5,473        | 79 % ± 4 % | ≥ 60 %: met | 225     |',
      '| `POST /certs/ P-256` | SPNEGO token   | 261        | 2,348        | 11 % ± 1 % |             | 4,252   |',
    ]);
  });

  it('prints a column for each portal, and marks missed goals', () => {
    const lines = portals.split('\n').map(line =>
      line
        .split('|')
        .slice(1, -1)
        .map(cell => cell.trim()),
    );
    expect(lines[0]).toEqual(['', 'SQLite', 'PostgreSQL', 'Maximum']);
    expect(lines).toContainEqual(['RSS at rest, MiB', '686', '453', '']);
    expect(lines).toContainEqual(['longest stop at rest, ms', '3.3', '', '']);
    expect(lines).toContainEqual(['request (p99), ms', '', '61, missed', '50']);
    expect(lines).toContainEqual(['errors', '', '0', '0']);
  });
});

describe('replaceTables', () => {
  it('replaces the tables, and keeps the text', () => {
    const before = 'a\n<!-- results -->\n\nold\n\n<!-- /results -->\nb\n';
    const after = `a\n<!-- results -->\n\n${formatTables(results)}\n\n<!-- /results -->\nb\n`;
    expect(replaceTables(before, results)).toBe(after);
    expect(replaceTables(after, results)).toBe(after);
  });
});
