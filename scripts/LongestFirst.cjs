// Jest's test sequencer for the project: the test files that
// scripts/test-durations.json lists run first, the longest one first, so that
// one worker does not end with a long file while the others have nothing to do.
// Jest's own order, by durations of previous runs or file size, sorts the rest.

const { readFileSync } = require('node:fs');
const { join, relative } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');

const root = join(__dirname, '..');
const durations = JSON.parse(
  readFileSync(join(__dirname, 'test-durations.json'), 'utf8'),
);

module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const duration = ({ path }) => durations[relative(root, path)] ?? 0;
    return super.sort(tests).sort((a, b) => duration(b) - duration(a));
  }
};
