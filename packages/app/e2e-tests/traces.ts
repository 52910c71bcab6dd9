import type { Page } from '@playwright/test';

/**
 * Everything that a page sends, from now on: addresses, headers, bodies, and
 * what goes through web sockets.
 */
export function recordSending(page: Page): readonly string[] {
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
 * Everything that a page's origin keeps: web storage, databases, caches,
 * cookies, the address and what its history holds. A key object in a database
 * is told by its name.
 */
export async function readStorage(page: Page): Promise<string> {
  const cookies = await page.context().cookies();
  const kept = await page.evaluate(async () => {
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
  return kept + JSON.stringify(cookies);
}
