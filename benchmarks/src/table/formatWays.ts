import type { Memory } from '../portal/Portal';
import type { WayGoals } from '../ways/wayGoals';
import type { WayResult } from '../ways/WayResult';
import { markdownTable } from './markdownTable';
import { mebibytes, orNothing, seconds, time, verdict } from './numbers';

const TITLES = {
  replica: 'portal',
  none: 'without the plugin',
} as const;

/** One thing that is told of each portal. */
interface Told {
  readonly title: string;
  readonly value: (way: WayResult) => number | null | undefined;
  readonly format: (value: number) => string;
  /** Maximum for the portal. */
  readonly goal?: keyof WayGoals;
}

const AGES: readonly Told[] = [
  {
    title: 'a write shows after, p50, ms',
    value: ({ ages }) => ages?.p50Ms,
    format: time,
  },
  {
    title: 'a write shows after, p95, ms',
    value: ({ ages }) => ages?.p95Ms,
    format: time,
  },
  {
    title: 'a write shows after, p99, ms',
    value: ({ ages }) => ages?.p99Ms,
    format: time,
    goal: 'ageMs',
  },
  {
    title: 'a write shows after, max, ms',
    value: ({ ages }) => ages?.maxMs,
    format: time,
  },
  { title: 'writes', value: ({ ages }) => ages?.writes, format: String },
  {
    title: 'wrong answers',
    value: ({ ages }) => ages?.wrong.length,
    format: String,
  },
];

/** What is told once of each portal, as a table with the goals. */
export function formatWays(
  ways: readonly WayResult[],
  goals?: WayGoals,
): string {
  const told = toldOf(ways.find(({ variant }) => variant === 'none'));
  return markdownTable([
    ['', ...ways.map(({ variant }) => TITLES[variant]), 'goal'],
    ...told.map(({ title, value, format, goal }) => [
      title,
      ...ways.map(way => orNothing(value(way), format)),
      goal && goals ? verdictOn(goals[goal], { ways, value, format }) : '',
    ]),
  ]);
}

function toldOf(without: WayResult | undefined): readonly Told[] {
  return [
    {
      title: 'first right answer, s',
      value: ({ start }) => start?.firstAnswerMs,
      format: seconds,
      goal: 'firstAnswerMs',
    },
    {
      title: 'replica ready, s',
      value: ({ start }) => start?.copiedMs,
      format: seconds,
      goal: 'copiedMs',
    },
    {
      title: 'loop p99 then, ms',
      value: ({ start }) => start?.loopDelayMs,
      format: time,
      goal: 'loopDelayMs',
    },
    {
      title: 'loop max then, ms',
      value: ({ start }) => start?.maxLoopDelayMs,
      format: time,
    },
    {
      title: 'requests answered',
      value: ({ requests }) => requests,
      format: String,
    },
    ...memoryOf(without),
    ...AGES,
  ];
}

function memoryOf(without: WayResult | undefined): readonly Told[] {
  return [
    {
      title: 'RSS at start, MiB',
      value: ({ memoryAtStart }) => memoryAtStart.rssBytes,
      format: mebibytes,
    },
    {
      title: 'used at start, MiB',
      value: ({ memoryAtStart }) => memoryAtStart.usedBytes,
      format: mebibytes,
    },
    {
      title: 'RSS after load, MiB',
      value: ({ memoryAfterLoad }) => memoryAfterLoad.rssBytes,
      format: mebibytes,
    },
    {
      title: 'used after load, MiB',
      value: ({ memoryAfterLoad }) => memoryAfterLoad.usedBytes,
      format: mebibytes,
    },
    {
      title: 'RSS after load above the server without it, MiB',
      value: way => above(way, without, 'rssBytes'),
      format: mebibytes,
      goal: 'memoryBytes',
    },
    {
      title: 'used after load above the server without it, MiB',
      value: way => above(way, without, 'usedBytes'),
      format: mebibytes,
    },
    {
      title: 'highest RSS, MiB',
      value: ({ memoryAfterLoad }) => memoryAfterLoad.highestRssBytes,
      format: mebibytes,
    },
    {
      title: 'highest RSS above the server without it, MiB',
      value: way => above(way, without, 'highestRssBytes'),
      format: mebibytes,
    },
  ];
}

function above(
  way: WayResult,
  without: WayResult | undefined,
  what: keyof Memory,
): number | null {
  return without && way !== without
    ? way.memoryAfterLoad[what] - without.memoryAfterLoad[what]
    : null;
}

function verdictOn(
  goal: number,
  { ways, value, format }: Omit<Told, 'title'> & { ways: readonly WayResult[] },
): string {
  const portal = ways.find(({ variant }) => variant === 'replica');
  const reached = portal && value(portal);
  return reached === null || reached === undefined
    ? ''
    : verdict(`≤ ${format(goal)}`, reached <= goal);
}
