/* eslint-disable jest/no-export -- hooks for the tests of several files */
import { PostgresServer } from '@directory-gateway/realm';
import { openPostgres, type TestDatabaseKind } from './TestDatabase';

/** A server for all tests of a file, with a new database for each test. */
export function sharedPostgres(): TestDatabaseKind {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await PostgresServer.start();
  });

  afterAll(async () => {
    await server?.stop();
  });

  return { name: 'PostgreSQL', start: () => openPostgres(server) };
}
