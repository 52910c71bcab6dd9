import { createPortal } from './createPortal';

// Run by `yarn start` with the realm's environment, and by integration tests.
createPortal().start();
