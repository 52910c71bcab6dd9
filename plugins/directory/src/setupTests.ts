/* eslint-disable no-console -- it is what this file is about */
import '@testing-library/jest-dom';

// The portal's frame around a page under test is made of Material UI 4, about
// which React 18 and jsdom complain at length.
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
