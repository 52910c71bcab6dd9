// Jest's test sequencer: runs the test files in scripts/test-durations.json
// first, in order of decreasing duration, so that no worker runs a long file at
// the end while the others are idle. The other files are in Jest's own order,
// by durations of previous runs or file size.

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
