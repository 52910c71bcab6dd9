import type { Spread } from './ClosedLoop';
import type { Mode } from './credentials/credentials';
import type { PortalResult } from './measurePortal';
import type { Row } from './measureRows';
import type { Memory } from './portal/Portal';
import { GOAL_USERS, settings } from './settings';

/** Content of `results.json`. */
export interface Results {
  /** Number of users that the realm was started with. */
  readonly users: number;
  readonly machine: object;
  readonly settings: object;
  /** The portal, and the same server without the directory plugin. */
  readonly ways: readonly PortalResult[];
  readonly rows: readonly Row[];
}

/** Content of `results-organization-USERS.json`. */
export interface OrganizationResults {
  readonly users: number;
  readonly machine: object;
  readonly entities: number;
  /**
   * Milliseconds from the start until the last mutation and the last final
   * entity.
   */
  readonly ingestion: { readonly writtenMs: number; readonly finalMs: number };
  readonly writes: number;
  /** From the response to a write until the transaction of `applyMutation`. */
  readonly appliedMs: Spread;
  /** From the response to a write until the entity has the new value. */
  readonly visibleMs: Spread;
  readonly idle: {
    readonly minutes: number;
    readonly mutations: number;
    readonly cpuMs: number;
  };
  readonly rssBytes: number;
}

const MODES: Readonly<Record<Mode, string>> = {
  session: 'session cookie',
  negotiate: 'SPNEGO token',
  token: 'portal token',
};

/** Minimum share of the route's rate with more users, of that with fewer. */
const MIN_RATIO = 0.8;

type Format = (value: number) => string;
type Column = readonly [title: string, cell: (row: Row) => string];

const COLUMNS: readonly Column[] = [
  ['request', ({ name }) => `\`${name}\``],
  ['by', ({ mode }) => MODES[mode]],
  ['requests/s', formatRate],
  ['of route', formatShare],
  ['goal', formatGoal],
  ['route/s', row => format(row.route_rps, whole)],
  ['limit/s', row => format(row.limit_rps, whole)],
  ['p50', row => format(row.p50_ms, milliseconds)],
  ['p99', row => format(row.p99_ms, milliseconds)],
  ['LDAP p50', row => format(row.ldap_p50_ms, milliseconds)],
  ['µs CPU', row => format(row.portal_cpu_us, whole)],
];

/** Formats the progress after a row. */
export function formatRow(row: Row): string {
  const p50 = format(row.p50_ms, milliseconds);
  const ratio = formatShare(row);
  const ofRoute = ratio && `, of route ${ratio}`;
  return `${row.name} ${row.mode}: ${formatRate(row)}/s, p50 ${p50} ms${ofRoute}`;
}

/**
 * Formats rows as a Markdown table.
 *
 * @param baseline - results with fewer users, to compare rates with
 */
export function formatRows(rows: readonly Row[], baseline?: Results): string {
  const columns = [...COLUMNS];
  if (baseline) {
    const users = whole(baseline.users);
    columns.push([`of ${users} users`, row => compareRate(row, baseline)]);
  }
  return markdownTable([
    columns.map(([title]) => title),
    ...rows.map(row => columns.map(([, cell]) => cell(row))),
  ]);
}

/**
 * Formats the mean rates of each request as a Markdown table, with one column
 * for each mode. The CPU time and latency are those with SPNEGO tokens.
 */
export function formatRates(rows: readonly Row[]): string {
  const modes = Object.keys(MODES) as Mode[];
  const byName = new Map<string, Map<Mode, Row>>();
  for (const row of rows) {
    const same = byName.get(row.name) ?? new Map<Mode, Row>();
    byName.set(row.name, same.set(row.mode, row));
  }
  return markdownTable([
    ['Request', ...modes.map(mode => `By ${MODES[mode]}`), 'CPU ms', 'p50 ms'],
    ...[...byName].map(([name, row]) => [
      `\`${name}\``,
      ...modes.map(mode => format(row.get(mode)?.rps, whole)),
      format(row.get('negotiate')?.portal_cpu_us, us => (us / 1000).toFixed(1)),
      format(row.get('negotiate')?.p50_ms, ms => ms.toFixed(1)),
    ]),
  ]);
}

/** Formats times by number of users as a Markdown table. */
export function formatSizes(all: readonly Results[]): string {
  const lines = all.map(({ users, ways }) => {
    const { start, ages } = ways.find(({ variant }) => variant !== 'none')!;
    return [
      whole(users),
      format(start?.syncedMs, seconds),
      format(start?.loopDelayMs, whole),
      format(ages?.p50Ms, ms => (ms / 1000).toFixed(2)),
      format(ages?.p99Ms, ms => (ms / 1000).toFixed(2)),
    ];
  });
  return markdownTable([
    [
      'Users',
      'First sync finished, s',
      'Event loop delay in the sync (p99), ms',
      'Write visible (p50), s',
      'Write visible (p99), s',
    ],
    ...lines,
  ]);
}

function formatRate({ rps, rps_min, rps_max }: Row): string {
  return `${whole(rps)} (${whole(rps_min)}–${whole(rps_max)})`;
}

/** Formats the share of the route's rate, with its confidence interval. */
function formatShare({ rps, route_rps, route_margin }: Row): string {
  const text = format(share(rps, route_rps), percent);
  if (text === '' || typeof route_margin !== 'number') {
    return text;
  }
  const isWide = route_margin > settings.maxMargin;
  return `${text} ± ${percent(route_margin)}${isWide ? ', too wide' : ''}`;
}

function formatGoal(row: Row): string {
  const { goal_ratio, route_margin, p50_ms, goal_p50_ms } = row;
  const ratio = share(row.rps, row.route_rps);
  const goals: string[] = [];
  if (goal_ratio !== null && ratio !== null) {
    goals.push(intervalGoal(ratio, route_margin, goal_ratio));
  }
  if (goal_p50_ms !== null) {
    goals.push(goalStatus(`p50 ≤ ${goal_p50_ms} ms`, p50_ms <= goal_p50_ms));
  }
  return goals.join(', ');
}

/** Compares the shares of the route's rate, which is the same for all sizes. */
function compareRate(row: Row, baseline: Results): string {
  const same = baseline.rows.find(
    ({ name, mode }) => name === row.name && mode === row.mode,
  );
  const ratio = share(row.rps, row.route_rps);
  const before = same ? share(same.rps, same.route_rps) : null;
  if (ratio === null || before === null) {
    return '';
  }
  const value = ratio / before;
  const errors = [
    (row.route_margin ?? Infinity) / ratio,
    (same?.route_margin ?? Infinity) / before,
  ];
  const margin = value * Math.hypot(...errors);
  return `${percent(value)}, ${intervalGoal(value, margin, MIN_RATIO)}`;
}

/** A goal is undecided without an interval, as in older results. */
function intervalGoal(
  ratio: number,
  margin: number | null | undefined,
  minimum: number,
): string {
  const width = margin ?? Infinity;
  const goal = `≥ ${percent(minimum)}`;
  return ratio - width < minimum && ratio + width >= minimum
    ? `${goal} undecided`
    : goalStatus(goal, ratio >= minimum);
}

interface Goals {
  readonly firstSyncMs: number;
  /** 99th percentile and maximum during the first sync. */
  readonly loopDelayMs: number;
  readonly maxLoopDelayMs: number;
  /**
   * Memory after load that exceeds that of the same server without the plugin.
   */
  readonly memoryBytes: number;
  /** 99th percentile. */
  readonly visibilityMs: number;
  /** Maximum until a locked account is refused. */
  readonly refusedMs: number;
  /** Maximum until lists omit a preserved user. */
  readonly unlistedMs: number;
}

/** Promises of the documents, for up to 20,000 users. */
const PROMISES = { visibilityMs: 1000, refusedMs: 5000, unlistedMs: 20_000 };

const TIME_GOALS = { ...PROMISES, loopDelayMs: 20, maxLoopDelayMs: 100 };

const GOALS: ReadonlyMap<number, Goals> = new Map([
  [20_000, { ...TIME_GOALS, firstSyncMs: 8000, memoryBytes: 120e6 }],
  [
    100_000,
    {
      ...TIME_GOALS,
      unlistedMs: 90_000,
      firstSyncMs: 40_000,
      memoryBytes: 450e6,
    },
  ],
]);

function goalsOf(users: number): Partial<Goals> {
  return GOALS.get(users) ?? (users < GOAL_USERS ? PROMISES : {});
}

/** A line of the table of portals. */
interface Line {
  readonly title: string;
  readonly value: (portal: PortalResult) => number | null | undefined;
  readonly format: Format;
  /** Maximum for the portal with the plugin. */
  readonly goal?: keyof Goals;
  /** Subtracts the value of the server without the plugin. */
  readonly isAbove?: boolean;
}

const LINES: readonly Line[] = [
  ofStart('first correct response, s', 'firstResponseMs', seconds),
  ofStart('first sync finished, s', 'syncedMs', seconds, 'firstSyncMs'),
  ofStart(
    'event loop delay during the sync, p99, ms',
    'loopDelayMs',
    milliseconds,
    'loopDelayMs',
  ),
  ofStart(
    'event loop delay during the sync, max, ms',
    'maxLoopDelayMs',
    milliseconds,
    'maxLoopDelayMs',
  ),
  { title: 'requests', value: ({ requests }) => requests, format: whole },
  ...ofMemory('RSS', 'rssBytes', 'memoryBytes'),
  ...ofMemory('used', 'usedBytes'),
  {
    title: 'highest RSS, MiB',
    value: ({ memoryAfterLoad }) => memoryAfterLoad.highestRssBytes,
    format: mebibytes,
  },
  ...(['p50', 'p95', 'p99', 'max'] as const).map((name): Line => ({
    title: `write visible after, ${name}, ms`,
    value: ({ ages }) => ages?.[`${name}Ms`],
    format: milliseconds,
    goal: name === 'p99' ? 'visibilityMs' : undefined,
  })),
  ...ofSpread('locked account refused after', 'refusedMs'),
  ...ofSpread('preserved user unlisted after', 'unlistedMs'),
  { title: 'writes', value: ({ ages }) => ages?.writes, format: whole },
  {
    title: 'wrong responses during the writes',
    value: ({ ages }) => ages?.wrong.length,
    format: whole,
  },
];

function ofStart(
  title: string,
  key: keyof NonNullable<PortalResult['start']>,
  formatValue: Format,
  goal?: keyof Goals,
): Line {
  return {
    title,
    value: ({ start }) => start?.[key],
    format: formatValue,
    goal,
  };
}

function ofMemory(
  name: string,
  key: keyof Memory,
  goal?: keyof Goals,
): readonly Line[] {
  const atStart = ({ memoryAtStart }: PortalResult) => memoryAtStart[key];
  const afterLoad = ({ memoryAfterLoad }: PortalResult) => memoryAfterLoad[key];
  const title = `${name} above the server without it, MiB`;
  return [
    { title: `${name} at start, MiB`, value: atStart, format: mebibytes },
    { title: `${name} after load, MiB`, value: afterLoad, format: mebibytes },
    { title, value: afterLoad, format: mebibytes, goal, isAbove: true },
  ];
}

function ofSpread(
  title: string,
  key: 'refusedMs' | 'unlistedMs',
): readonly Line[] {
  return (['p50', 'p95', 'max'] as const).map(name => ({
    title: `${title}, ${name}, s`,
    value: ({ ages }) => ages?.[key]?.[name],
    format: seconds,
    goal: name === 'max' ? key : undefined,
  }));
}

/**
 * Returns the titles of promises that the portal does not keep or that have no
 * measurement. Without any writes, there are none.
 */
export function missedPromises({ users, ways }: Results): readonly string[] {
  const [portal] = ways;
  const goals = goalsOf(users);
  return LINES.filter(({ goal, value }) => {
    const maximum = goal && goal in PROMISES ? goals[goal] : undefined;
    const isKept = (value(portal) ?? NaN) <= (maximum ?? Infinity);
    return portal.ages && maximum !== undefined && !isKept;
  }).map(({ title }) => title);
}

/** Formats measurements of portals, one line for each, as a table. */
export function formatPortals(all: readonly Results[]): string {
  const columns = all.flatMap(results =>
    results.ways.map(portal => ({ portal, results })),
  );
  return markdownTable([
    [
      'users, plugin',
      ...columns.map(
        ({ portal, results }) =>
          `${whole(results.users)}, ${
            portal.variant === 'none' ? 'without' : 'with'
          }`,
      ),
    ],
    ...LINES.map(line => [
      line.title,
      ...columns.map(({ portal, results }) =>
        formatLine(line, portal, results),
      ),
    ]).filter(([, ...cells]) => cells.some(Boolean)),
  ]);
}

/** Formats measurements of the catalog, one column for each size, as a table. */
export function formatOrganizations(
  all: readonly OrganizationResults[],
): string {
  const line = (title: string, value: (of: OrganizationResults) => string) => [
    title,
    ...all.map(value),
  ];
  const spread = ({ p50, p95, max }: Spread) =>
    [p50, p95, max].map(whole).join(' / ');
  return markdownTable([
    line('', ({ users }) => `${whole(users)} users`),
    line('entities', ({ entities }) => whole(entities)),
    line('start to last mutation, s', ({ ingestion }) =>
      seconds(ingestion.writtenMs),
    ),
    line('start to last complete entity, s', ({ ingestion }) =>
      seconds(ingestion.finalMs),
    ),
    line('writes', ({ writes }) => whole(writes)),
    line('write to mutation, p50 / p95 / max, ms', ({ appliedMs }) =>
      spread(appliedMs),
    ),
    line('write to visible entity, p50 / p95 / max, ms', ({ visibleMs }) =>
      spread(visibleMs),
    ),
    line('minutes without writes', ({ idle }) => whole(idle.minutes)),
    line('mutations without writes', ({ idle }) => whole(idle.mutations)),
    line('CPU time without writes, s', ({ idle }) => seconds(idle.cpuMs)),
    line('RSS at the end, MiB', ({ rssBytes }) => mebibytes(rssBytes)),
  ]);
}

function formatLine(
  { value, format: formatValue, goal, isAbove }: Line,
  portal: PortalResult,
  { users, ways }: Results,
): string {
  const isPortal = portal.variant !== 'none';
  const without = ways.find(({ variant }) => variant === 'none');
  if (isAbove && (!isPortal || !without)) {
    return '';
  }
  const measured = value(portal) ?? null;
  const result =
    measured === null ? null : measured - (isAbove ? value(without!)! : 0);
  const maximum = goal && isPortal ? goalsOf(users)[goal] : undefined;
  const text = format(result, formatValue);
  return result === null || maximum === undefined
    ? text
    : `${text}, ${goalStatus(`≤ ${formatValue(maximum)}`, result <= maximum)}`;
}

/** Formats lines as a Markdown table; the first line is its header. */
export function markdownTable(lines: readonly (readonly string[])[]): string {
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

/**
 * Formats a number with thousands separators, and a small one with a decimal.
 */
function whole(value: number): string {
  return value < 10 && !Number.isInteger(value)
    ? value.toFixed(1)
    : Math.round(value).toLocaleString('en-US');
}

export function milliseconds(ms: number): string {
  return ms < 10 ? ms.toFixed(2) : ms.toFixed(0);
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}

function percent(ratio: number): string {
  return `${(100 * ratio).toFixed(0)} %`;
}

export function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}

function share(value: number, of: number | null | undefined): number | null {
  return of === null || of === undefined ? null : value / of;
}

/** Formats a value; returns an empty cell when there is none. */
function format(value: number | null | undefined, formatValue: Format): string {
  return value === null || value === undefined ? '' : formatValue(value);
}

function goalStatus(goal: string, isMet: boolean): string {
  return `${goal} ${isMet ? 'met' : 'missed'}`;
}
