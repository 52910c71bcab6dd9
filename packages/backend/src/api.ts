// The API alone, without pages, catalog, search and sign-in.
import { createApiBackend, start } from './createApiBackend';

start(createApiBackend());
