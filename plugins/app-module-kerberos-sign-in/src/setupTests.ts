import '@testing-library/jest-dom';
import { configure } from '@testing-library/react';

// On a busy machine, a page takes longer to appear than the default of one
// second.
configure({ asyncUtilTimeout: 60_000 });
jest.setTimeout(180_000);
