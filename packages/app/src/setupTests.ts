/* eslint-disable no-console -- it is what this file is about */
import '@testing-library/jest-dom';
import { configure } from '@testing-library/react';

// On a busy machine a page takes longer than the usual second to appear.
configure({ asyncUtilTimeout: 60_000 });
jest.setTimeout(180_000);

// Backstage's own pages are made of Material UI 4, about which React 18 and
// jsdom complain at length. Nothing here can change that, and nobody would see
// a complaint of our own among theirs.
const aboutMaterialUi =
  /findDOMNode is deprecated|\[JSS\] processedRuleToParse is not defined/;

for (const level of ['error', 'warn'] as const) {
  const report = console[level];
  console[level] = (...message: unknown[]) => {
    if (!aboutMaterialUi.test(String(message[0]))) {
      report(...message);
    }
  };
}
