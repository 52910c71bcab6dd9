import type { FlameFrame, FrameOrigin } from './FlameFrame';

const WIDTH = 1200;
const ROW = 18;
const MARGIN = 10;
/** Above the frames: a title, a line that explains, a legend. */
const HEAD = 62;
/** Narrower frames, in pixels, are left out. */
const NARROWEST = 1.5;
/** Roughly, of the font below. */
const CHARACTER = 6.1;

const LEGEND: Readonly<Record<FrameOrigin, string>> = {
  ours: 'the gateway',
  dependency: 'packages',
  node: 'Node.js',
  native: 'engine, system calls',
};

/** On a bright page and on a dark one; texts on frames are dark on both. */
const STYLE = `
text { font: 11px ui-monospace, monospace; fill: #1b1f24 }
.on-page { fill: #1b1f24 }
.title { font: bold 14px system-ui, sans-serif }
.note { font: 12px system-ui, sans-serif }
rect { stroke: #fff; stroke-width: .5 }
.ours { fill: #f2a65a } .dependency { fill: #9cc5e8 }
.node { fill: #b9d8a8 } .native { fill: #d5d8dc }
@media (prefers-color-scheme: dark) {
  .on-page { fill: #e6e8eb }
  rect { stroke: #16191d }
}`;

/**
 * Draws a flame graph as SVG: callers above, what they call below, as wide as
 * their time; the widest first.
 */
export function drawFlameGraph(
  root: FlameFrame,
  options: { readonly title: string; readonly description: string },
): string {
  const shapes: string[] = [];
  const scale = (WIDTH - 2 * MARGIN) / root.total;
  let depth = 0;
  const draw = (frame: FlameFrame, x: number, row: number): void => {
    let left = x;
    for (const child of widestFirst(frame)) {
      const width = child.total * scale;
      if (width >= NARROWEST) {
        depth = Math.max(depth, row + 1);
        shapes.push(
          shape(child, {
            x: left,
            row,
            width,
            share: child.total / root.total,
          }),
        );
        draw(child, left, row + 1);
      }
      left += width;
    }
  };
  draw(root, MARGIN, 0);
  const height = HEAD + depth * ROW + MARGIN;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title description">
<title id="title">${escape(options.title)}</title>
<desc id="description">${escape(options.description)}</desc>
<style>${STYLE}
</style>
<text class="on-page title" x="${MARGIN}" y="20">${escape(options.title)}</text>
<text class="on-page note" x="${MARGIN}" y="38">As wide as its time on the CPU; callers above, what they call below.</text>
${legend()}
${shapes.join('\n')}
</svg>
`;
}

function widestFirst({ children }: FlameFrame): readonly FlameFrame[] {
  return [...children.values()].sort((a, b) => b.total - a.total);
}

function shape(
  { label, origin }: FlameFrame,
  at: {
    readonly x: number;
    readonly row: number;
    readonly width: number;
    readonly share: number;
  },
): string {
  const { x, row, width, share } = at;
  const y = HEAD + row * ROW;
  const fitting = Math.floor((width - 4) / CHARACTER);
  const text =
    label.length > fitting ? `${label.slice(0, fitting - 1)}…` : label;
  const rect = `<rect class="${origin}" x="${x.toFixed(
    1,
  )}" y="${y}" width="${width.toFixed(1)}" height="${ROW - 1}"/>`;
  const words =
    fitting < 4
      ? ''
      : `<text x="${(x + 2).toFixed(1)}" y="${y + 12}">${escape(text)}</text>`;
  const tooltip = `${label}, ${(100 * share).toFixed(1)} %`;
  return `<g><title>${escape(tooltip)}</title>${rect}${words}</g>`;
}

function legend(): string {
  return Object.entries(LEGEND)
    .map(([origin, words], place) => {
      const x = MARGIN + place * 170;
      return `<rect class="${origin}" x="${x}" y="45" width="12" height="12"/><text class="on-page note" x="${
        x + 17
      }" y="55">${words}</text>`;
    })
    .join('');
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
