import type { Page } from '@playwright/test';

/**
 * Records what a page sends after the call: URLs, headers, bodies, WebSocket
 * frames and console messages.
 */
export function recordTraffic(page: Page): readonly string[] {
  const sent: string[] = [];
  page
    .context()
    .on('request', request =>
      sent.push(
        request.url(),
        JSON.stringify(request.headers()),
        request.postDataBuffer()?.toString('latin1') ?? '',
      ),
    );
  page.on('websocket', socket =>
    socket.on('framesent', ({ payload }) => sent.push(String(payload))),
  );
  page.on('console', message => sent.push(message.text()));
  return sent;
}

/**
 * Returns what the origin of a page stores: web storage, databases, cache
 * names, cookies, URL and history state. A `CryptoKey` in a database is
 * replaced by its type.
 */
export async function readStorage(page: Page): Promise<string> {
  const cookies = await page.context().cookies();
  const stored = await page.evaluate(async () => {
    const plain = (_key: string, value: unknown) =>
      value instanceof CryptoKey ? `CryptoKey ${value.type}` : value;
    const readDatabase = (name: string) =>
      new Promise<unknown>((resolve, reject) => {
        const opening = indexedDB.open(name);
        opening.onerror = () => reject(opening.error);
        opening.onsuccess = () => {
          const database = opening.result;
          const names = Array.from(database.objectStoreNames);
          if (names.length === 0) {
            resolve([]);
            return;
          }
          const transaction = database.transaction(names);
          const rows = names.map(store =>
            transaction.objectStore(store).getAll(),
          );
          transaction.oncomplete = () => resolve(rows.map(row => row.result));
        };
      });
    const databases = await indexedDB.databases();
    return JSON.stringify(
      [
        { ...localStorage },
        { ...sessionStorage },
        await Promise.all(databases.map(({ name }) => readDatabase(name!))),
        await caches.keys(),
        window.location.href,
        window.history.state,
      ],
      plain,
    );
  });
  return stored + JSON.stringify(cookies);
}
