import { flameFrame, type FlameFrame, type FrameOrigin } from './FlameFrame';

/** What V8's profiler writes (DevTools protocol, `Profiler.Profile`). */
export interface CpuProfile {
  readonly nodes: readonly CpuProfileNode[];
  /** The node that was running, one a sample. */
  readonly samples: readonly number[];
  /** Microseconds between samples. */
  readonly timeDeltas: readonly number[];
}

/** One function on one stack. */
export interface CpuProfileNode {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    /** From 0. */
    readonly lineNumber: number;
  };
  readonly children?: readonly number[];
}

/** Time in which the process did nothing, or what is not known of it. */
const NOTHING = new Set(['(idle)', '(root)']);

/** What starts and ends a profile, which costs a second by itself. */
const PROFILER = /\/portalProbe\.mjs$|^node:inspector/;

/**
 * Reads a profile as a flame graph: equal stacks are one, and calls within one
 * dependency are one frame, whose name is the package's.
 */
export function readCpuProfile(profile: CpuProfile): FlameFrame {
  const nodes = new Map(profile.nodes.map(node => [node.id, node]));
  const parents = new Map(
    profile.nodes.flatMap(({ id, children = [] }) =>
      children.map(child => [child, id] as const),
    ),
  );
  const root = flameFrame('all');
  profile.samples.forEach((id, at) => {
    const stack: Named[] = [];
    let isOwnCost = false;
    for (
      let node = nodes.get(id);
      node;
      node = nodes.get(parents.get(node.id) ?? NaN)
    ) {
      stack.unshift(nameOf(node));
      isOwnCost ||= PROFILER.test(node.callFrame.url);
    }
    const frames = stack.filter(({ label }) => label !== '(root)');
    if (!isOwnCost && !NOTHING.has(nodes.get(id)!.callFrame.functionName)) {
      add(root, frames, profile.timeDeltas[at]);
    }
  });
  return root;
}

type Named = Pick<FlameFrame, 'label' | 'origin'>;

function add(root: FlameFrame, stack: readonly Named[], time: number): void {
  root.total += time;
  let frame = root;
  for (const { label, origin } of stack) {
    const isWithin = origin !== 'ours' && label === frame.label;
    if (!isWithin) {
      const child = frame.children.get(label) ?? flameFrame(label, origin);
      frame.children.set(label, child);
      child.total += time;
      frame = child;
    }
  }
  frame.self += time;
}

function nameOf({ callFrame }: CpuProfileNode): Named {
  const { functionName, url, lineNumber } = callFrame;
  if (url === '') {
    return { label: functionName || '(native)', origin: 'native' };
  }
  if (url.startsWith('node:')) {
    const module = url.replace(/^node:(internal\/)?/, '').split('/')[0];
    return { label: `node ${module}`, origin: 'node' };
  }
  const dependency = packageOf(url);
  if (dependency) {
    return { label: dependency, origin: 'dependency' };
  }
  const file = url
    .split('/')
    .at(-1)!
    .replace(/\.cjs\.js$|\.m?js$/, '');
  return {
    label: functionName
      ? `${functionName} · ${file}`
      : `${file}:${lineNumber + 1}`,
    origin: 'ours' satisfies FrameOrigin,
  };
}

/** The innermost package that a file is in; `undefined` for the portal's own. */
function packageOf(url: string): string | undefined {
  const [, path] = /.*\/node_modules\/(.+)$/.exec(url) ?? [];
  const [scope, name] = path?.split('/') ?? [];
  if (path === undefined || scope === '@directory-gateway') {
    return undefined;
  }
  // Two names for one thing: a router that waits for promises.
  if (scope === 'express-promise-router') {
    return 'express';
  }
  return scope.startsWith('@') ? `${scope}/${name}` : scope;
}
