import { chromium, type BrowserContext } from '@playwright/test';
import { join } from 'node:path';
import type { Portal } from './Portal';
import type { Visitor } from './Visitor';

/** Where Debian puts Chromium; `CHROMIUM` names another. */
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';

/**
 * Opens Chromium with a fresh profile in `folder`. Not a context of a shared
 * browser: tickets come from the environment of the whole browser, and are not
 * sent by private windows, which is what such contexts are.
 */
export async function openBrowser(options: {
  readonly portal: Portal;
  readonly visitor: Visitor;
  readonly folder: string;
}): Promise<BrowserContext> {
  const { portal, visitor, folder } = options;
  const { ticket, hostAllowed = true } = visitor;
  const ticketCache =
    ticket === undefined
      ? `FILE:${join(folder, 'no-ticket')}`
      : await portal.realm.ticket(ticket);
  return await chromium.launchPersistentContext(join(folder, 'profile'), {
    executablePath,
    // Chromium's sandbox does not work for root.
    chromiumSandbox: process.getuid?.() !== 0,
    args: [
      '--disable-quic',
      ...(hostAllowed ? ['--auth-server-allowlist=localhost'] : []),
    ],
    env: {
      ...environment(),
      KRB5_CONFIG: portal.realm.krb5Config,
      KRB5CCNAME: ticketCache,
    },
    permissions: ['clipboard-read', 'clipboard-write'],
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
  });
}

function environment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
}
