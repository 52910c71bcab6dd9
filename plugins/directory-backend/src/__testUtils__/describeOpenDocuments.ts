/* eslint-disable jest/no-export -- part of the suite of a file that has a site */
import { eventually } from './eventually';
import type { Site } from './withGateway';

const MOUNT = '/api/directory/fasjson';

/** What FASJSON's mount shows without a login, as tests. */
export function describeOpenDocuments(site: Site): void {
  describe('what needs no login', () => {
    it('is an index, as the reference has it', async () => {
      const { json, headers } = await site.client.ask('/fasjson/');
      const root = `${site.gateway.baseUrl}${MOUNT}`;
      expect(headers.get('content-type')).toBe('application/json');
      expect(json).toEqual({
        message: 'Welcome to FASJSON',
        apis: [
          {
            version: 1,
            uri: `${root}/v1/`,
            specs: `${root}/specs/v1.json`,
            docs: `${root}/docs/v1/`,
          },
        ],
      });
    });

    it('is an explorer that shows the document beside it', async () => {
      const page = await site.client.ask('/fasjson/docs/v1/');
      expect(page.headers.get('content-type')).toMatch('text/html');
      expect(page.text).not.toMatch(/<script>|<style|style=| on\w+=/);
      const assets = [...page.text.matchAll(/(?:src|href)="([\w-]+\.\w+)"/g)];
      expect(assets.length).toBeGreaterThan(3);
      for (const [, name] of assets) {
        const { status } = await site.client.ask(`/fasjson/docs/v1/${name}`, {
          method: 'HEAD',
        });
        expect([name, status]).toEqual([name, 200]);
      }
      const bare = await site.client.ask('/fasjson/docs/v1');
      expect(bare.text).toContain('<base href="v1/"');
    });

    it('are probes that follow the directory', async () => {
      const live = await site.client.ask('/fasjson/healthz/live');
      expect([live.status, JSON.parse(live.text)]).toEqual([
        200,
        { status: 200, title: 'OK' },
      ]);
      expect(live.headers.get('content-type')).toBe('application/problem+json');
      expect((await site.client.ask('/fasjson/healthz/ready')).status).toBe(
        200,
      );
      await site.realm.directory.stop();
      try {
        await eventually(async () => {
          const ready = await site.client.ask('/fasjson/healthz/ready');
          expect([ready.status, JSON.parse(ready.text)]).toEqual([
            503,
            { status: 503, title: 'LDAP server is down' },
          ]);
        });
        expect((await site.client.ask('/fasjson/healthz/live')).status).toBe(
          200,
        );
      } finally {
        await site.realm.directory.start();
      }
      await eventually(async () =>
        expect((await site.client.ask('/fasjson/healthz/ready')).status).toBe(
          200,
        ),
      );
    });

    it('is nothing else', async () => {
      for (const path of ['/fasjson/v1/', '/fasjson/healthz/', '/fasjson/x']) {
        expect((await site.client.ask(path)).status).toBe(401);
      }
    });
  });
}
