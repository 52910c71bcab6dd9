import type { FlameFrame } from './FlameFrame';

/** So many are named. */
const NAMED = 12;

/** Where the time goes, in words: for who cannot see the picture. */
export function describeFlameGraph(root: FlameFrame): string {
  const own = new Map<string, number>();
  const visit = (frame: FlameFrame): void => {
    own.set(frame.label, (own.get(frame.label) ?? 0) + frame.self);
    for (const child of frame.children.values()) {
      visit(child);
    }
  };
  visit(root);
  const shares = [...own]
    .sort(([, a], [, b]) => b - a)
    .slice(0, NAMED)
    .map(
      ([label, self]) => `${label} ${((100 * self) / root.total).toFixed(1)} %`,
    );
  return `Time in themselves: ${shares.join(', ')}.`;
}
