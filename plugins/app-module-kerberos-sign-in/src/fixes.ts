import { allowHostCommand } from './fixes/allowHostCommand';
import type { Client, System } from './fixes/Client';
import type { Fix } from './fixes/Fix';
import type { SignInProblem } from './session/SignInError';

const clockCommands: Partial<Record<System, string>> = {
  linux: 'sudo timedatectl set-ntp true',
  macos: 'sudo sntp -sS time.apple.com',
  windows: 'w32tm /resync',
};

/** Refusals that a first, a new or somebody else's ticket may end. */
const ticketReasons: Readonly<Record<string, 'first' | 'new'>> = {
  no_credentials: 'first',
  ntlm_refused: 'first',
  clock_skew: 'new',
  unknown_service_key: 'new',
  replayed: 'new',
  malformed_token: 'new',
  continuation_required: 'new',
  realm_refused: 'new',
  service_principal: 'new',
  unknown_principal: 'new',
};

/**
 * What this person can do, in the order to try it. Without a token the server
 * cannot tell a missing ticket from a browser that keeps it to itself, so both
 * are told.
 */
export function fixesFor(options: {
  readonly problem: SignInProblem;
  readonly client: Client;
  /** The portal's host, without a port. */
  readonly host: string;
  /** As in `EXAMPLE.TEST`, for people to type; their default otherwise. */
  readonly realm?: string;
}): readonly Fix[] {
  const { problem, client, host, realm } = options;
  if (problem.kind !== 'refused') {
    return [];
  }
  const { reason, minutesAhead } = problem;
  const fixes: Fix[] = [];
  if (reason === 'clock_skew' && minutesAhead) {
    fixes.push({ kind: 'clock', command: clockCommands[client.system] });
  }
  const ticket = ticketReasons[reason];
  if (ticket) {
    fixes.push(getTicket({ ticket, system: client.system, realm }));
  }
  // Safari sends tickets to whoever asks for them.
  if (reason === 'no_credentials' && client.browser !== 'safari') {
    fixes.push(allowHost(client, host));
  }
  return fixes;
}

function getTicket(options: {
  readonly ticket: 'first' | 'new';
  readonly system: System;
  readonly realm?: string;
}): Fix {
  const { ticket, system, realm } = options;
  switch (system) {
    case 'windows':
      // Windows gets tickets by itself; only old ones can be thrown away.
      return ticket === 'new'
        ? { kind: 'ticket', how: 'ticketType', command: 'klist purge' }
        : { kind: 'ticket', how: 'ticketWindows' };
    case 'linux':
    case 'macos': {
      const kinit = realm ? `kinit your-name@${realm}` : 'kinit';
      const command = ticket === 'new' ? `kdestroy; ${kinit}` : kinit;
      return { kind: 'ticket', how: 'ticketType', command };
    }
    default:
      return { kind: 'ticket', how: 'ticketElsewhere' };
  }
}

function allowHost(client: Client, host: string): Fix {
  if (client.browser === 'firefox') {
    return {
      kind: 'allowHostInFirefox',
      page: 'about:config',
      preference: 'network.negotiate-auth.trusted-uris',
      value: host,
    };
  }
  const command = allowHostCommand(client, host);
  return command === undefined
    ? { kind: 'allowHostElsewhere', host }
    : { kind: 'allowHost', command };
}
