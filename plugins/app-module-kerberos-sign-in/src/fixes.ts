import type { SignInFailure } from './session/fetchSession';

type FixKind = 'ticket' | 'allowHost' | 'clock';

/** A step that may fix the sign-in. */
export interface Fix {
  /** Message key of the title. */
  readonly kind: FixKind;
  /** Message key of the instructions. */
  readonly how:
    `${FixKind}${'Command' | 'Other'}` | 'ticketWindows' | 'allowHostFirefox';
  /** Command or value to copy. Defaults to none. */
  readonly copyable?: string;
}

const clockCommands: Partial<Record<System, string>> = {
  linux: 'sudo timedatectl set-ntp true',
  macos: 'sudo sntp -sS time.apple.com',
  windows: 'w32tm /resync',
};

/** Refusal reasons that a first or a new ticket may resolve. */
const ticketReasons: Readonly<Record<string, 'first' | 'new'>> = {
  no_credentials: 'first',
  ntlm_refused: 'first',
  clock_skew: 'new',
  unknown_service_key: 'new',
  malformed_token: 'new',
  continuation_required: 'new',
  realm_refused: 'new',
  service_principal: 'new',
  unknown_principal: 'new',
};

/**
 * Returns the steps that the user can try, in order. Without a token, the
 * server cannot distinguish a missing ticket from a browser that does not send
 * it, so both steps are returned.
 */
export function suggestFixes(options: {
  readonly failure: SignInFailure;
  readonly client: Client;
  /** Host name of the portal. */
  readonly host: string;
  /** Realm in the `kinit` command, for example `EXAMPLE.TEST`. Defaults to none. */
  readonly realm?: string;
}): readonly Fix[] {
  const { failure, client, host, realm } = options;
  if (failure.kind !== 'refused') {
    return [];
  }
  const { reason, minutesAhead } = failure;
  const fixes: Fix[] = [];
  if (reason === 'clock_skew' && minutesAhead) {
    fixes.push(commandFix('clock', clockCommands[client.system]));
  }
  const ticket = ticketReasons[reason];
  if (ticket) {
    fixes.push(getTicket({ ticket, system: client.system, realm }));
  }
  // Safari sends tickets to every host that requests them.
  if (reason === 'no_credentials' && client.browser !== 'safari') {
    fixes.push(allowHost(client, host));
  }
  return fixes;
}

/**
 * Returns a fix with a command, or with other instructions if there is none.
 */
function commandFix(kind: FixKind, command: string | undefined): Fix {
  return {
    kind,
    how: `${kind}${command ? 'Command' : 'Other'}`,
    copyable: command,
  };
}

function getTicket(options: {
  readonly ticket: 'first' | 'new';
  readonly system: System;
  readonly realm?: string;
}): Fix {
  const { ticket, system, realm } = options;
  if (system === 'windows') {
    // Windows gets tickets automatically; users can only purge old ones.
    return ticket === 'new'
      ? commandFix('ticket', 'klist purge')
      : { kind: 'ticket', how: 'ticketWindows' };
  }
  if (system === 'other') {
    return commandFix('ticket', undefined);
  }
  const kinit = realm ? `kinit your-name@${realm}` : 'kinit';
  return commandFix('ticket', ticket === 'new' ? `kdestroy; ${kinit}` : kinit);
}

/** Firefox preference with the hosts that receive tickets. */
export const FIREFOX_PREFERENCE = 'network.negotiate-auth.trusted-uris';

function allowHost(client: Client, host: string): Fix {
  return client.browser === 'firefox'
    ? { kind: 'allowHost', how: 'allowHostFirefox', copyable: host }
    : commandFix('allowHost', allowHostCommand(client, host));
}

/**
 * Locations of the `AuthServerAllowlist` policy
 * (https://chromeenterprise.google/policies/#AuthServerAllowlist).
 */
const policyPaths = {
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
 * Returns the command that allows a browser to send tickets to a host;
 * `undefined` if there is none.
 */
function allowHostCommand(client: Client, host: string): string | undefined {
  const { browser, system } = client;
  if (browser !== 'chrome' && browser !== 'chromium' && browser !== 'edge') {
    return undefined;
  }
  const path = policyPaths[browser];
  switch (system) {
    case 'linux':
      return [
        `sudo mkdir -p ${path.linux}/policies/managed`,
        `echo '{"AuthServerAllowlist": "${host}"}' |`,
        `  sudo tee ${path.linux}/policies/managed/kerberos.json`,
      ].join('\n');
    case 'macos':
      return `defaults write ${path.macos} AuthServerAllowlist ${host}`;
    case 'windows':
      return `reg add HKLM\\Software\\Policies\\${path.windows} /v AuthServerAllowlist /d ${host}`;
    default:
      return undefined;
  }
}

/** A browser for which the page has instructions. */
export type Browser =
  'chrome' | 'chromium' | 'edge' | 'firefox' | 'safari' | 'other';

/** An operating system for which the page has instructions. */
type System = 'linux' | 'macos' | 'windows' | 'other';

/** Browser and operating system of the user. */
export interface Client {
  readonly browser: Browser;
  readonly system: System;
}

/**
 * Checked in this order, because browsers also claim to be those listed after
 * them.
 */
const browsers: ReadonlyArray<readonly [RegExp, Browser]> = [
  [/\bEdg\//, 'edge'],
  [/\b(?:OPR|Vivaldi|SamsungBrowser)\//, 'other'],
  [/\bFirefox\//, 'firefox'],
  [/\bChromium\//, 'chromium'],
  [/\b(?:Headless)?Chrome\//, 'chrome'],
  [/\bVersion\/.*\bSafari\//, 'safari'],
];

const systems: ReadonlyArray<readonly [RegExp, System]> = [
  [/Android|iPhone|iPad|CrOS/, 'other'],
  [/Windows/, 'windows'],
  [/Mac OS X/, 'macos'],
  [/Linux|X11/, 'linux'],
];

/**
 * Properties by which a browser identifies itself. Newer browsers list their
 * brands.
 */
export interface SelfDescription {
  readonly userAgent: string;
  readonly userAgentData?: {
    readonly brands?: ReadonlyArray<{ readonly brand: string }>;
  };
}

/** Detects the browser and the operating system. */
export function detectClient(navigator: SelfDescription): Client {
  const { userAgent, userAgentData } = navigator;
  const brands = new Set(userAgentData?.brands?.map(({ brand }) => brand));
  const browser = first(browsers, userAgent) ?? 'other';
  return {
    // Chromium claims to be Chrome; only the brands distinguish them.
    browser:
      browser === 'chrome' &&
      brands.has('Chromium') &&
      !brands.has('Google Chrome')
        ? 'chromium'
        : browser,
    system: first(systems, userAgent) ?? 'other',
  };
}

function first<T>(
  patterns: ReadonlyArray<readonly [RegExp, T]>,
  text: string,
): T | undefined {
  return patterns.find(([pattern]) => pattern.test(text))?.[1];
}
