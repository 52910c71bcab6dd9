/** How a run is made; the table's header names what matters of it. */
export const settings = Object.freeze({
  /** The portal has this CPU for itself. */
  portalCpu: 0,
  /** The load generator, the directory and the KDC share this one. */
  generatorCpu: 1,
  /** Connections under load, kept open, one request at a time on each. */
  connections: 16,
  /**
   * Fewer of them where answers would wait longer than this for one another,
   * in milliseconds: a full queue shows nothing but the gateway's deadline.
   */
  maxQueueMs: 1000,
  /** Rounds of a row. */
  rounds: 5,
  /** Length of a round under load, in milliseconds. */
  loadMs: 800,
  /** Length of a round on one connection, in milliseconds. */
  singleMs: 300,
  /** What is not counted, in milliseconds. */
  warmUpMs: 600,
  /** The credentials at hand for each row before anything is measured. */
  warmUpRequests: 1500,
  /** For how long the directory is asked a question, in milliseconds. */
  directMs: 600,
  /** How often at least. */
  directTimes: 3,
  /** Maximum duration of the replica's first sync, in milliseconds. */
  copyPatienceMs: 180_000,
  /** Writes whose showing is waited for. */
  writes: 240,
  /** Connections that ask while they are made. */
  connectionsWhileWritten: 4,
  /** How many certificates are read by their serial numbers. */
  certificates: 500,
  /** Whose tickets are used, in turn. */
  callers: 8,
  /** Of the names that are drawn. */
  seed: 1,
});
