// First: refuses an unsupported version of Node.js.
import directoryPlugin from '@directory-gateway/backstage-plugin-directory-backend';
import { createBackend } from '@backstage/backend-defaults';
import {
  rootHealth,
  rootHttpRouter,
} from '@directory-gateway/root-http-router';

/** Returns a backend with the API of the gateway, and every CA. */
export function createApiBackend() {
  const backend = createBackend();
  backend.add(rootHttpRouter);
  backend.add(rootHealth);
  backend.add(directoryPlugin);
  backend.add(
    import('@directory-gateway/backstage-plugin-directory-backend-module-embedded-ca'),
  );
  backend.add(
    import('@directory-gateway/backstage-plugin-directory-backend-module-freeipa-ca'),
  );
  backend.add(
    import('@directory-gateway/backstage-plugin-directory-backend-module-step-ca'),
  );
  return backend;
}

/** Starts a backend; after an error, the process exits with code 1. */
export function start(backend: ReturnType<typeof createApiBackend>): void {
  // Otherwise, Backstage logs the error, and the process is never ready.
  backend.start().catch(error => {
    process.stderr.write(`${error.stack}\n`);
    process.exit(1);
  });
}
