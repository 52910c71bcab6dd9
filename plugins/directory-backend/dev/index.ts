import { createPortal } from './createPortal';

// `yarn start` in this folder with the realm's environment, and what the
// integration tests boot.
createPortal().start();
