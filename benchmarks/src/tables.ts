import { checkGoal } from './interval';
import type { RowResult } from './measureRow';
import type { Values } from './MeasuredPortal';

/** Content of `results.json`. */
export interface Results {
  /** ISO date of the run. */
  readonly date: string;
  readonly commit: string;
  /** Number of users that the realm was started with. */
  readonly users: number;
  /** CPUs, Node.js version and load average before the run. */
  readonly machine: string;
  readonly rows: readonly RowResult[];
  /** Measurements of a whole portal, by its database. */
  readonly portals: Readonly<Record<string, Values>>;
}

/** Maximum of a measurement, by the number of users. */
const PROMISES: Readonly<Record<string, (users: number) => number>> = {
  errors: () => 0,
  'write visible (p99), ms': () => 1000,
  'locked account refused (max), ms': () => 5000,
  'preserved user not listed (max), ms': users =>
    users > 20_000 ? 90_000 : 20_000,
};
/** As `PROMISES`, but for an idle machine like that of the documents. */
const GOALS: typeof PROMISES = { 'request (p99), ms': () => 50 };

/**
 * Returns the titles of promises that the portal with PostgreSQL did not keep,
 * or that were not measured.
 */
export function missedPromises({ users, portals }: Results): readonly string[] {
  return Object.keys(PROMISES).filter(title => {
    const measured = portals.PostgreSQL?.[title] ?? Infinity;
    return measured > PROMISES[title](users);
  });
}

const BLOCK = /(<!-- results -->\n)[^]*(<!-- \/results -->)/;

/** Replaces the tables of a document. */
export function replaceTables(text: string, results: Results): string {
  return text.replace(
    BLOCK,
    (_, start, end) => `${start}\n${formatTables(results)}\n\n${end}`,
  );
}

/** Formats the tables in Markdown. */
export function formatTables(results: Results): string {
  const { date, commit, users, machine, rows, portals } = results;
  return `Measured on ${date} with ${format(users)} users, commit ${commit}: ${machine}.

${formatRows(rows)}

${formatPortals(users, portals)}`;
}

function formatRows(rows: readonly RowResult[]): string {
  const head =
    'Request | Credential | Requests/s | Bare route/s | Ratio | Goal | CPU, µs';
  return markdownTable([
    head.split(' | '),
    ...rows.map(row => [
      `\`${row.name}\``,
      row.credential,
      format(row.rate),
      format(row.routeRate),
      `${percent(row.ratio)} ± ${percent(row.margin)}`,
      row.goal ? `≥ ${percent(row.goal)}: ${checkGoal(row, row.goal)}` : '',
      format(row.cpuUs),
    ]),
  ]);
}

/** One column for each portal. */
function formatPortals(users: number, portals: Results['portals']): string {
  const columns = Object.values(portals);
  const titles = new Set(columns.flatMap(values => Object.keys(values)));
  return markdownTable([
    ['', ...Object.keys(portals), 'Maximum'],
    ...[...titles].map(title => {
      const maximum = (PROMISES[title] ?? GOALS[title])?.(users);
      const cells = columns.map(values => {
        const isMissed = (values[title] ?? 0) > (maximum ?? Infinity);
        return `${format(values[title])}${isMissed ? ', missed' : ''}`;
      });
      return [title, ...cells, format(maximum)];
    }),
  ]);
}

function markdownTable(lines: readonly (readonly string[])[]): string {
  const widths = lines[0].map((_, column) =>
    Math.max(3, ...lines.map(line => line[column].length)),
  );
  const [head, ...body] = lines.map(
    line =>
      `| ${line.map((text, at) => text.padEnd(widths[at])).join(' | ')} |`,
  );
  const rule = `| ${widths.map(width => '-'.repeat(width)).join(' | ')} |`;
  return [head, rule, ...body].join('\n');
}

/** Formats with separators, and a small fraction with a decimal. */
function format(value: number | undefined): string {
  const maximumFractionDigits = (value ?? 0) < 10 ? 1 : 0;
  return value?.toLocaleString('en-US', { maximumFractionDigits }) ?? '';
}

function percent(ratio: number): string {
  return `${(100 * ratio).toFixed(0)} %`;
}
