import { createTranslationRef } from '@backstage/frontend-plugin-api';

/** Messages for the API's refusal reasons. */
export const reasonMessages = {
  no_credentials: 'Your browser did not send a Kerberos ticket.',
  ntlm_refused:
    'Your browser does not have a Kerberos ticket for this portal and offered NTLM, which is not accepted.',
  clock_skew:
    'Your ticket has expired, or your clock differs from the portal’s.',
  unknown_service_key:
    'Your ticket is for another server or an earlier key of this server.',
  replayed:
    'The portal received the same Kerberos token twice. Try again to send a new token. If this persists, a proxy may be repeating requests: contact your administrator.',
  realm_refused: 'Tickets from your realm are not accepted.',
  malformed_token: 'Your browser sent an invalid Kerberos token.',
  token_too_large:
    'Your ticket is larger than the portal accepts. Contact your administrator.',
  continuation_required:
    'Your browser supports Negotiate but does not have a Kerberos ticket for this portal.',
  unknown_principal:
    'Your ticket is valid, but the portal has no user for your account. Contact your administrator or use another account.',
  account_locked: 'Your account is locked. Contact your administrator.',
  account_expired: 'Your account has expired. Contact your administrator.',
  service_principal:
    'Your ticket belongs to a service or a host. Only users can sign in.',
  unusable_name:
    'Your username contains characters that the portal cannot use. Contact your administrator.',
} as const;

/**
 * Messages of the sign-in page in English and German.
 *
 * @public
 */
export const kerberosSignInTranslationRef = createTranslationRef({
  id: 'kerberos-sign-in',
  messages: {
    state: {
      signingIn: 'Signing you in with your Kerberos ticket…',
      ready: 'You can sign in with your Kerberos ticket.',
      signedOut:
        'You have signed out. You still have a Kerberos ticket and can sign in again.',
      unreachable:
        'The portal could not be reached. Check your network connection.',
      unavailable: 'The portal cannot check tickets at the moment.',
      retry_one: 'Retrying in {{count}} second.',
      retry_other: 'Retrying in {{count}} seconds.',
    },
    reason: reasonMessages,
    clock: {
      ahead_one: 'Your clock is {{count}} minute ahead of the portal’s.',
      ahead_other: 'Your clock is {{count}} minutes ahead of the portal’s.',
      behind_one: 'Your clock is {{count}} minute behind the portal’s.',
      behind_other: 'Your clock is {{count}} minutes behind the portal’s.',
    },
    fix: {
      ticketTitle: 'Get a ticket',
      ticketCommand: 'Run in a terminal:',
      ticketWindows:
        'Sign in to Windows with your domain account. Windows then gets tickets automatically.',
      ticketOther: 'Sign in to this device with your organization account.',
      allowHostTitle: 'Allow {{browser}} to send the ticket to {{host}}',
      allowHostCommand: 'Run in a terminal, then restart {{browser}}:',
      allowHostFirefox:
        'Open {{page}}, search for {{preference}} and set it to:',
      allowHostOther:
        'Allow integrated (Negotiate) authentication for {{host}} in the browser settings.',
      clockTitle: 'Set your clock',
      clockCommand: 'Run in a terminal:',
      clockOther: 'Set your system to update the clock automatically.',
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
      copyFailed: 'Could not copy',
      help: 'More help',
    },
  },
  translations: { de: () => import('./de') },
});
