/* eslint-disable jest/no-export -- part of the suite of a file that has a site */
import type { Site } from '../../../__testUtils__/gateway/withGateway';

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

    it('are health checks', async () => {
      for (const path of ['/fasjson/healthz/live', '/fasjson/healthz/ready']) {
        const { status, text, headers } = await site.client.ask(path);
        expect([status, JSON.parse(text)]).toEqual([
          200,
          { status: 200, title: 'OK' },
        ]);
        expect(headers.get('content-type')).toBe('application/problem+json');
      }
    });

    it('is nothing else', async () => {
      for (const path of ['/fasjson/v1/', '/fasjson/healthz/', '/fasjson/x']) {
        expect((await site.client.ask(path)).status).toBe(401);
      }
    });
  });
}
