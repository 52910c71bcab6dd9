/* eslint-disable no-console -- filters console output */
import '@testing-library/jest-dom';
import { configure } from '@testing-library/react';

// On a busy machine, a page takes longer to appear than the default of one
// second.
configure({ asyncUtilTimeout: 60_000 });
jest.setTimeout(180_000);

// Warnings from React 18 and jsdom about Material UI 4 in Backstage's own
// pages, which would hide warnings from this package.
const IGNORED =
  /findDOMNode is deprecated|\[JSS\] processedRuleToParse is not defined/;

for (const level of ['error', 'warn'] as const) {
  const report = console[level];
  console[level] = (...message: unknown[]) => {
    if (!IGNORED.test(String(message[0]))) {
      report(...message);
    }
  };
}
