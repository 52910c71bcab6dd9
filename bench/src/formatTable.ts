import type { Row } from './Row';

const COLUMNS: readonly {
  readonly title: string;
  readonly cell: (row: Row) => string;
}[] = [
  { title: 'request', cell: ({ name }) => `\`${name}\`` },
  { title: 'mode', cell: ({ mode }) => mode },
  { title: 'at once', cell: ({ connections }) => `${connections}` },
  { title: 'requests/s (min–max)', cell: rate },
  { title: 'goal', cell: verdict },
  { title: 'p50', cell: row => time(row.p50_ms) },
  { title: 'p99', cell: row => time(row.p99_ms) },
  { title: 'load p50', cell: row => time(row.load_p50_ms) },
  { title: 'load p99', cell: row => time(row.load_p99_ms) },
  { title: 'direct p50', cell: row => orNothing(row.direct_p50_ms, time) },
  { title: 'ratio', cell: row => orNothing(row.ratio, x => x.toFixed(2)) },
  { title: 'µs CPU', cell: ({ portal_cpu_us }) => whole(portal_cpu_us) },
  { title: 'CPU 0', cell: row => percent(row.portal_cpu) },
  { title: 'CPU 1', cell: row => percent(row.generator_cpu) },
  { title: 'loop p99', cell: row => time(row.event_loop_delay_p99_ms) },
];

/** The middle of a row, for who waits for the table. */
export function formatRow(row: Row): string {
  return `${row.name} ${row.mode}: ${rate(row)}/s, p50 ${time(row.p50_ms)} ms`;
}

/** Rows as a table of Markdown that is also one for the eye. */
export function formatTable(rows: readonly Row[]): string {
  const lines = [
    COLUMNS.map(({ title }) => title),
    ...rows.map(row => COLUMNS.map(({ cell }) => cell(row))),
  ];
  const widths = COLUMNS.map((_, column) =>
    Math.max(...lines.map(line => line[column].length)),
  );
  const [head, ...body] = lines.map(
    line =>
      `| ${line.map((text, at) => text.padEnd(widths[at])).join(' | ')} |`,
  );
  const rule = `| ${widths.map(width => '-'.repeat(width)).join(' | ')} |`;
  return [head, rule, ...body].join('\n');
}

function rate({ rps, rps_min, rps_max }: Row): string {
  return `${whole(rps)} (${whole(rps_min)}–${whole(rps_max)})`;
}

function verdict(row: Row): string {
  const { rps, goal_rps, p50_ms, goal_p50_ms } = row;
  if (goal_rps === null) {
    return '';
  }
  const met =
    rps >= goal_rps && (goal_p50_ms === null || p50_ms <= goal_p50_ms);
  return `${whole(goal_rps)} ${met ? 'met' : 'missed'}`;
}

/** Digits in proportion: nobody reads the third one of a rate. */
function whole(rps: number): string {
  return rps < 10 ? rps.toFixed(1) : rps.toFixed(0);
}

function time(ms: number): string {
  return ms < 10 ? ms.toFixed(2) : ms.toFixed(0);
}

/** A cell is empty where there is no such thing. */
function orNothing(
  value: number | null,
  format: (value: number) => string,
): string {
  return value === null ? '' : format(value);
}

function percent(share: number): string {
  return `${(100 * share).toFixed(0)} %`;
}
