import { createTranslationRef } from '@backstage/frontend-plugin-api';

/**
 * Texts of the sign-in page, in English.
 *
 * @public
 */
export const kerberosSignInTranslationRef = createTranslationRef({
  id: 'kerberos-sign-in',
  messages: {
    state: {
      signingIn: 'Signing you in with your Kerberos ticket…',
      ready: 'Your Kerberos ticket lets you in.',
      signedOut:
        'You have signed out. Your Kerberos ticket is still there and lets you in again.',
      unreachable: 'The portal did not answer. Is your network up?',
      unavailable: 'The portal cannot check tickets for the moment.',
    },
    reason: {
      no_credentials: 'Your browser sent no Kerberos ticket.',
      ntlm_refused:
        'Your browser has no Kerberos ticket for this portal and offered NTLM, which is not accepted.',
      clock_skew:
        'Your ticket is not valid at this time: it has expired, or a clock is wrong.',
      unknown_service_key:
        'Your ticket was made for another server, or before this one changed its key.',
      replayed: 'Your browser sent a ticket that had been used before.',
      realm_refused: 'Tickets of your realm are not accepted here.',
      malformed_token:
        'Your browser sent something that is no Kerberos ticket.',
      token_too_large:
        'Your ticket is larger than the portal accepts. Tell the people who run the portal.',
      continuation_required:
        'Your browser wants to negotiate, but has no Kerberos ticket for this portal.',
      unknown_principal:
        'Your ticket is good, but the portal does not know you. Ask the people who run it, or use another account.',
      account_locked:
        'Your account is locked. The people who run the directory can unlock it.',
      account_expired:
        'Your account has expired. The people who run the directory can renew it.',
      service_principal:
        'Your ticket belongs to a service or a host. Only people sign in here.',
      unusable_name:
        'Your user name has characters that the portal cannot use. Ask the people who run it.',
    },
    clock: {
      ahead_one: 'Your clock is {{count}} minute ahead of the portal’s.',
      ahead_other: 'Your clock is {{count}} minutes ahead of the portal’s.',
      behind_one: 'Your clock is {{count}} minute behind the portal’s.',
      behind_other: 'Your clock is {{count}} minutes behind the portal’s.',
    },
    fix: {
      ticketTitle: 'Get a ticket',
      ticketType: 'In a terminal:',
      ticketWindows:
        'Sign in to Windows with your account of the domain; it gets tickets by itself.',
      ticketElsewhere:
        'Sign in to this device with your account of the organization.',
      allowHostTitle: 'Let {{browser}} send it to {{host}}',
      allowHostType: 'In a terminal, then close {{browser}} and open it again:',
      allowHostFirefox: 'Open {{page}}, look for {{preference}} and set it to:',
      allowHostElsewhere:
        'Allow integrated (Negotiate) authentication for {{host}} in its settings.',
      clockTitle: 'Set your clock',
      clockType: 'In a terminal:',
      clockElsewhere: 'Let your system set it from the network.',
    },
    browser: {
      chrome: 'Chrome',
      chromium: 'Chromium',
      edge: 'Edge',
      firefox: 'Firefox',
      safari: 'Safari',
      other: 'your browser',
    },
    action: {
      signIn: 'Sign in',
      tryAgain: 'Try again',
      enterAs: 'Enter as {{name}} (demo)',
      copy: 'Copy',
      copied: 'Copied',
      copyFailed: 'Not copied',
      help: 'More help',
    },
  },
});
