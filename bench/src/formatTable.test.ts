import { formatTable } from './formatTable';
import type { Row } from './Row';

const row: Row = {
  name: '/me/',
  people: 20_000,
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
  direct_p50_ms: 0.25,
  ratio: 2.05,
  goal_rps: 1500,
  goal_p50_ms: null,
  portal_cpu_us: 480,
  portal_cpu: 0.98,
  noise_cpu: 0.01,
  generator_cpu: 0.5,
  event_loop_delay_p99_ms: 3,
};

/** What stands in the column of the goal. */
function verdictOn(change: Partial<Row>): string {
  const [, , line] = formatTable([{ ...row, ...change }]).split('\n');
  return line.split(' | ')[4].trim();
}

describe('formatTable', () => {
  it('is a table of Markdown with columns of one width', () => {
    const lines = formatTable([row, { ...row, name: '/users/{u}/' }]).split(
      '\n',
    );
    expect(lines).toHaveLength(4);
    expect(new Set(lines.map(line => line.length)).size).toBe(1);
    expect(lines[2]).toContain('| `/me/`        | negotiate |');
    expect(lines[2]).toContain('1600 (1500–1700)');
  });

  it('leaves out what the directory was not asked', () => {
    const [, , line] = formatTable([
      { ...row, direct_p50_ms: null, ratio: null },
    ]).split('\n');
    const cells = line.split('|').map(cell => cell.trim());
    expect(cells.slice(10, 13)).toEqual(['', '', '480']);
  });

  it('says whether the goal was met, in rate and in time', () => {
    expect(verdictOn({})).toBe('1500 met');
    expect(verdictOn({ rps: 1499 })).toBe('1500 missed');
    expect(verdictOn({ goal_p50_ms: 0.6 })).toBe('1500 met');
    expect(verdictOn({ goal_p50_ms: 0.5 })).toBe('1500 missed');
    expect(verdictOn({ goal_rps: null })).toBe('');
  });
});
