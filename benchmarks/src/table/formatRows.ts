import type { Row } from '../rows/Row';
import { markdownTable } from './markdownTable';
import { orNothing, percent, time, verdict, whole } from './numbers';

const COLUMNS: readonly (readonly [
  title: string,
  cell: (row: Row) => string,
])[] = [
  ['request', row => `\`${row.name}\``],
  ['mode', row => row.mode],
  ['requests/s', rate],
  ['p50', row => time(row.p50_ms)],
  ['p99', row => time(row.p99_ms)],
  ['goal', verdictOn],
  ['LDAP p50', row => orNothing(row.ldap_p50_ms, time)],
  ['load p99', row => time(row.load_p99_ms)],
  ['µs CPU', row => whole(row.portal_cpu_us)],
  ['CPU 0', row => percent(row.portal_cpu)],
  ['CPU 1', row => percent(row.generator_cpu)],
  ['loop p99', row => time(row.event_loop_delay_p99_ms)],
];

/** One line about a row, for the progress of a run. */
export function formatRow(row: Row): string {
  return `${row.name} ${row.mode}: ${rate(row)}/s, p50 ${time(row.p50_ms)} ms`;
}

/** Rows as a table. */
export function formatRows(rows: readonly Row[]): string {
  return markdownTable([
    COLUMNS.map(([title]) => title),
    ...rows.map(row => COLUMNS.map(([, cell]) => cell(row))),
  ]);
}

function rate({ rps, rps_min, rps_max }: Row): string {
  return `${whole(rps)} (${whole(rps_min)}–${whole(rps_max)})`;
}

function verdictOn(row: Row): string {
  const { rps, goal_rps, p50_ms, goal_p50_ms } = row;
  const goals = [
    ...(goal_rps === null ? [] : [`${whole(goal_rps)}/s`]),
    ...(goal_p50_ms === null ? [] : [`${goal_p50_ms} ms`]),
  ];
  const isMet =
    (goal_rps === null || rps >= goal_rps) &&
    (goal_p50_ms === null || p50_ms <= goal_p50_ms);
  return goals.length === 0 ? '' : verdict(goals.join(', '), isMet);
}
