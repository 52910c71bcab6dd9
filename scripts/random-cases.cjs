// Jest setup file of `make trials`: property tests that do not set `numRuns` run
// RUNS × 100 random cases instead of 100.

require('fast-check').configureGlobal({
  numRuns: 100 * Number(process.env.RUNS || 1),
});
