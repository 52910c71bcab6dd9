import '@testing-library/jest-dom';
import { configure } from '@testing-library/react';

// On a busy machine a page takes longer than the usual second to appear.
configure({ asyncUtilTimeout: 10_000 });
jest.setTimeout(30_000);
