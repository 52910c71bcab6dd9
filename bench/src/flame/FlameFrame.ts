/** Whose code a frame is. */
export type FrameOrigin = 'ours' | 'dependency' | 'node' | 'native';

/** A frame of a flame graph, with all that it was on the stack for. */
export interface FlameFrame {
  readonly label: string;
  readonly origin: FrameOrigin;
  /** Microseconds, those of `children` included. */
  total: number;
  /** Microseconds in itself. */
  self: number;
  readonly children: Map<string, FlameFrame>;
}

export function flameFrame(
  label: string,
  origin: FrameOrigin = 'native',
): FlameFrame {
  return { label, origin, total: 0, self: 0, children: new Map() };
}
