import type { Row } from '../rows/Row';
import { markdownTable } from './markdownTable';
import { orNothing, percent, time, verdict, whole } from './numbers';

/** Rows of one question in one mode, side by side. */
interface Line {
  readonly replica?: Row;
  readonly direct?: Row;
  /** The one of the two that there is, the copy's first. */
  readonly row: Row;
}

type Column = readonly [title: string, cell: (line: Line) => string];

const BY_THE_ROW: readonly Column[] = [
  ['request', ({ row }) => `\`${row.name}\``],
  ['mode', ({ row }) => row.mode],
];

const COPY: readonly Column[] = [
  ['copy, requests/s', ({ replica }) => (replica ? rate(replica) : '')],
  ['p50', ({ replica }) => orNothing(replica?.p50_ms, time)],
  ['p99', ({ replica }) => orNothing(replica?.p99_ms, time)],
  ['goal', ({ replica }) => (replica ? verdictOn(replica) : '')],
];

const DIRECT: readonly Column[] = [
  ['direct, requests/s', ({ direct }) => (direct ? rate(direct) : '')],
  ['p50', ({ direct }) => orNothing(direct?.p50_ms, time)],
  ['p99', ({ direct }) => orNothing(direct?.p99_ms, time)],
];

const OF_THE_ROW: readonly Column[] = [
  ['LDAP p50', ({ row }) => orNothing(row.ldap_p50_ms, time)],
  ['load p99', ({ row }) => time(row.load_p99_ms)],
  ['µs CPU', ({ row }) => whole(row.portal_cpu_us)],
  ['CPU 0', ({ row }) => percent(row.portal_cpu)],
  ['CPU 1', ({ row }) => percent(row.generator_cpu)],
  ['loop p99', ({ row }) => time(row.event_loop_delay_p99_ms)],
];

/** The middle of a row, for who waits for the table. */
export function formatRow(row: Row): string {
  const { reads, name, mode } = row;
  return `${reads} ${name} ${mode}: ${rate(row)}/s, p50 ${time(row.p50_ms)} ms`;
}

/** Rows as a table, those of the copy and of direct reads side by side. */
export function formatRows(rows: readonly Row[]): string {
  const lines = sideBySide(rows);
  const columns = [
    ...BY_THE_ROW,
    ...(lines.some(({ replica }) => replica) ? COPY : []),
    ...(lines.some(({ direct }) => direct) ? DIRECT : []),
    ...OF_THE_ROW,
  ];
  return markdownTable([
    columns.map(([title]) => title),
    ...lines.map(line => columns.map(([, cell]) => cell(line))),
  ]);
}

function sideBySide(rows: readonly Row[]): readonly Line[] {
  const lines = new Map<string, Line>();
  for (const row of rows) {
    const key = `${row.name} ${row.mode}`;
    lines.set(key, { row, ...lines.get(key), [row.reads]: row });
  }
  return [...lines.values()];
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
