// Loaded before a portal (`node --import`) to have the same server without the
// directory plugin and its modules: what it would load instead loads nothing.

import { registerHooks } from 'node:module';

const OURS = /^@directory-gateway\/backstage-plugin-directory-backend(-|$)/;

registerHooks({
  resolve(specifier, context, nextResolve) {
    return nextResolve(
      OURS.test(specifier)
        ? new URL('./nothing.cjs', import.meta.url).href
        : specifier,
      context,
    );
  },
});
