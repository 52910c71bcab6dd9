import type { Row } from '../rows/Row';
import { formatRows } from './formatRows';

const row: Row = {
  name: '/me/',
  people: 20_000,
  reads: 'replica',
  mode: 'negotiate',
  connections: 16,
  rps: 1600.4,
  rps_min: 1500,
  rps_max: 1700,
  p50_ms: 0.512,
  p99_ms: 12.3,
  samples: 500,
  load_p50_ms: 9.5,
  load_p99_ms: 20,
  ldap_p50_ms: 0.25,
  goal_rps: 1500,
  goal_p50_ms: null,
  portal_cpu_us: 480,
  portal_cpu: 0.98,
  noise_cpu: 0.01,
  generator_cpu: 0.5,
  event_loop_delay_p99_ms: 3,
};

function cellsOf(line: string): readonly string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map(cell => cell.trim());
}

/** What stands in the column of the goal. */
function verdictOn(change: Partial<Row>): string {
  const [, , line] = formatRows([{ ...row, ...change }]).split('\n');
  return cellsOf(line)[5];
}

describe('formatRows', () => {
  it('is a table of Markdown with columns of one width', () => {
    const lines = formatRows([row, { ...row, name: '/users/{u}/' }]).split(
      '\n',
    );
    expect(lines).toHaveLength(4);
    expect(new Set(lines.map(line => line.length)).size).toBe(1);
    expect(lines[2]).toContain('| `/me/`        | negotiate |');
    expect(lines[2]).toContain('1600 (1500–1700)');
  });

  it('has a line for each request and mode', () => {
    const [head, , ...lines] = formatRows([
      row,
      { ...row, mode: 'session' },
    ]).split('\n');
    expect(cellsOf(head).slice(2, 7)).toEqual([
      'requests/s',
      'p50',
      'p99',
      'goal',
      'LDAP p50',
    ]);
    expect(lines.map(line => cellsOf(line)[1])).toEqual([
      'negotiate',
      'session',
    ]);
  });

  it('leaves out what the directory was not asked', () => {
    const [, , line] = formatRows([{ ...row, ldap_p50_ms: null }]).split('\n');
    expect(cellsOf(line)[6]).toBe('');
  });

  it('says whether the goal was met, in rate and in time', () => {
    expect(verdictOn({})).toBe('1500/s met');
    expect(verdictOn({ rps: 1499 })).toBe('1500/s missed');
    expect(verdictOn({ goal_p50_ms: 0.6 })).toBe('1500/s, 0.6 ms met');
    expect(verdictOn({ goal_p50_ms: 0.5 })).toBe('1500/s, 0.5 ms missed');
    expect(verdictOn({ goal_rps: null, goal_p50_ms: 1 })).toBe('1 ms met');
    expect(verdictOn({ goal_rps: null })).toBe('');
  });
});
