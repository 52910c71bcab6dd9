import type { Mode } from '../credentials/Credentials';

/** One row of the table and of `results.json`; times are milliseconds. */
export interface Row {
  /** The kind of request. */
  readonly name: string;
  /** How many users the realm has. */
  readonly people: number;
  /** Kept for comparison with older results. */
  readonly reads: 'replica';
  readonly mode: Mode;
  /** How many connections the load came on. */
  readonly connections: number;
  /** Requests a second under load: the median of the rounds. */
  readonly rps: number;
  readonly rps_min: number;
  readonly rps_max: number;
  /** On one connection. */
  readonly p50_ms: number;
  readonly p99_ms: number;
  /** How many requests these two are of. */
  readonly samples: number;
  /** Under load, waiting for others included. */
  readonly load_p50_ms: number;
  readonly load_p99_ms: number;
  /**
   * The same asked of the directory by ldapts, on one connection; null when the
   * directory does not know it.
   */
  readonly ldap_p50_ms: number | null;
  readonly goal_rps: number | null;
  readonly goal_p50_ms: number | null;
  /** Under load, the portal's time on its CPU for a request, in microseconds. */
  readonly portal_cpu_us: number;
  /** Under load, the share of a CPU that the portal used, from 0 to 1. */
  readonly portal_cpu: number;
  /** … that anything else used of the portal's CPU: noise. */
  readonly noise_cpu: number;
  /** … that the load generator, the directory and the KDC used of theirs. */
  readonly generator_cpu: number;
  /** 99th percentile of how late the portal's timers were under load. */
  readonly event_loop_delay_p99_ms: number;
}
