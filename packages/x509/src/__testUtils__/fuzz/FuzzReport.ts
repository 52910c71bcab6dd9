/** The result of a fuzzing run. */
export interface FuzzReport {
  inputs: number;
  /** Counts by strategy and outcome: `signed: read`, `text: bad_base64`. */
  outcomes: Record<string, number>;
  /** Number of requests checked by each oracle. */
  peculiar: number;
  openssl: number;
  /** Inputs that caused an exception or a disagreement with an oracle. */
  findings: FuzzFinding[];
  slowest: { seed: number; milliseconds: number };
}

/** An input, identified by its seed, that needs investigation. */
export interface FuzzFinding {
  seed: number;
  what: string;
}

export function emptyReport(): FuzzReport {
  return {
    inputs: 0,
    outcomes: {},
    peculiar: 0,
    openssl: 0,
    findings: [],
    slowest: { seed: -1, milliseconds: 0 },
  };
}

/** Adds a later report to an earlier one. */
export function mergeReports(
  first: FuzzReport,
  second: FuzzReport,
): FuzzReport {
  const outcomes = { ...first.outcomes };
  for (const [outcome, count] of Object.entries(second.outcomes)) {
    outcomes[outcome] = (outcomes[outcome] ?? 0) + count;
  }
  const slower = second.slowest.milliseconds > first.slowest.milliseconds;
  return {
    inputs: first.inputs + second.inputs,
    outcomes,
    peculiar: first.peculiar + second.peculiar,
    openssl: first.openssl + second.openssl,
    findings: [...first.findings, ...second.findings],
    slowest: slower ? second.slowest : first.slowest,
  };
}
