/* eslint-disable jest/no-export -- part of the suite of a file that has a site */
import type { JsonObject } from '@backstage/types';
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GatewayClient } from './GatewayClient';
import {
  credentialsOutcome,
  NOBODY,
  sessionIn,
  withCookie,
} from './sessionCookies';
import { startGateway } from './startGateway';
import type { Site } from './withGateway';

/** What becomes of sessions when the portal is started anew, as tests. */
export function describeSessionRestarts(site: Site): void {
  describe('from one start to the next', () => {
    const [old, next] = [32, 48].map(bytes => randomBytes(bytes));
    let port: number | undefined;

    /** What becomes of a session after a start with other settings. */
    async function restarted<T>(
      sessions: JsonObject,
      use: (restarted: GatewayClient) => Promise<T>,
    ): Promise<T> {
      const another = await startGateway({
        realm: site.realm,
        port,
        directory: { sessions },
      });
      port = Number(new URL(another.baseUrl).port);
      try {
        return await use(
          new GatewayClient({ gateway: another, realm: site.realm }),
        );
      } finally {
        await another.stop();
      }
    }

    it('opens with the keys of the configuration, the first of which seals', async () => {
      const secretFile = join(site.realm.dir, 'session-key');
      await writeFile(secretFile, `${old.toString('hex')}\n`, {
        mode: 0o600,
      });
      const first = await restarted({ keys: [{ secretFile }] }, async asked =>
        sessionIn(await asked.ask('/v1/me/', { as: 'alice' })),
      );
      const second = await restarted(
        { keys: [{ secret: next.toString('base64') }, { secretFile }] },
        async asked => {
          const answer = await asked.ask('/v1/me/', withCookie(first));
          expect(answer.json).toMatchObject({ result: { username: 'alice' } });
          return sessionIn(await asked.ask('/v1/me/', { as: 'alice' }));
        },
      );
      await restarted(
        { keys: [{ secret: next.toString('base64') }] },
        async asked => {
          expect(
            credentialsOutcome(await asked.ask('/v1/me/', withCookie(first))),
          ).toEqual(NOBODY);
          const answer = await asked.ask('/v1/me/', withCookie(second));
          expect(answer.status).toBe(200);
        },
      );
      // Without a key in the configuration each process has its own.
      expect(
        credentialsOutcome(
          await site.client.ask('/v1/me/', withCookie(second)),
        ),
      ).toEqual(NOBODY);
      await restarted({ enabled: false }, async asked => {
        const { headers, status } = await asked.ask('/v1/me/', { as: 'alice' });
        expect(status).toBe(200);
        expect(headers.getSetCookie()).toEqual([]);
      });
      expect(await readFile(secretFile, 'utf8')).not.toBe('');
    });

    it('does not start with a key that is no good', async () => {
      const secret = randomBytes(16).toString('base64');
      const failure = await restarted(
        { keys: [{ secret }] },
        async () => 'started',
      ).catch(String);
      expect(failure).toMatch(
        /directory\.sessions\.keys\[0\]\.secret has 16 bytes/,
      );
      expect(failure).not.toContain(secret);
    });
  });
}
