/* eslint-disable no-console -- it is what this file is about */
import '@testing-library/jest-dom';
import { configure } from '@testing-library/react';

// On a busy machine a page takes longer than the usual second to appear.
configure({ asyncUtilTimeout: 60_000 });
jest.setTimeout(180_000);

// The portal's frame around a page under test is made of Material UI 4, about
// which React 18 and jsdom complain at length; and the breadcrumbs of
// @backstage/ui make text focusable for its tooltip.
const aboutOthers =
  /findDOMNode is deprecated|\[JSS\] processedRuleToParse is not defined|<Focusable> child must have an interactive ARIA role/;

for (const level of ['error', 'warn'] as const) {
  const report = console[level];
  console[level] = (...message: unknown[]) => {
    if (!aboutOthers.test(String(message[0]))) {
      report(...message);
    }
  };
}
