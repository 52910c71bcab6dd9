import '@testing-library/jest-dom';
import { configure } from '@testing-library/react';

// On a busy machine a page takes longer than the usual second to appear.
configure({ asyncUtilTimeout: 60_000 });
jest.setTimeout(180_000);

// jsdom has no scrolling, which the Scaffolder and lists use.
window.scrollTo = () => {};
global.IntersectionObserver = class {
  observe() {}
  disconnect() {}
} as unknown as typeof IntersectionObserver;
