import type { Browser, Client } from './Client';

/** Browsers that are told by Chromium's policies. */
type ChromiumBrowser = Extract<Browser, 'chrome' | 'chromium' | 'edge'>;

/**
 * Where they look for the policy `AuthServerAllowlist`
 * (https://chromeenterprise.google/policies/#AuthServerAllowlist).
 */
const places: Readonly<
  Record<ChromiumBrowser, { linux: string; macos: string; windows: string }>
> = {
  chrome: {
    linux: '/etc/opt/chrome',
    macos: 'com.google.Chrome',
    windows: 'Google\\Chrome',
  },
  chromium: {
    linux: '/etc/chromium',
    macos: 'org.chromium.Chromium',
    windows: 'Chromium',
  },
  edge: {
    linux: '/etc/opt/edge',
    macos: 'com.microsoft.Edge',
    windows: 'Microsoft\\Edge',
  },
};

/**
 * What to paste into a terminal so that this browser sends tickets to a host;
 * `undefined` when no command does that.
 */
export function allowHostCommand(
  client: Client,
  host: string,
): string | undefined {
  const { browser, system } = client;
  if (browser !== 'chrome' && browser !== 'chromium' && browser !== 'edge') {
    return undefined;
  }
  const place = places[browser];
  switch (system) {
    case 'linux':
      return [
        `sudo mkdir -p ${place.linux}/policies/managed`,
        `echo '{"AuthServerAllowlist": "${host}"}' |`,
        `  sudo tee ${place.linux}/policies/managed/kerberos.json`,
      ].join('\n');
    case 'macos':
      return `defaults write ${place.macos} AuthServerAllowlist ${host}`;
    case 'windows':
      return `reg add HKLM\\Software\\Policies\\${place.windows} /v AuthServerAllowlist /d ${host}`;
    default:
      return undefined;
  }
}
