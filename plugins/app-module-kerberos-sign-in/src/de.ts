/** German messages of the sign-in page. */
export default {
  'state.signingIn': 'Sie werden mit Ihrem Kerberos-Ticket angemeldet…',
  'state.ready': 'Sie können sich mit Ihrem Kerberos-Ticket anmelden.',
  'state.signedOut':
    'Sie haben sich abgemeldet. Sie haben noch ein Kerberos-Ticket und können sich wieder anmelden.',
  'state.unreachable':
    'Das Portal ist nicht erreichbar. Prüfen Sie Ihre Netzwerkverbindung.',
  'state.unavailable': 'Das Portal kann zurzeit keine Tickets prüfen.',
  'state.retry_one': 'Neuer Versuch in {{count}} Sekunde.',
  'state.retry_other': 'Neuer Versuch in {{count}} Sekunden.',
  'reason.no_credentials': 'Ihr Browser hat kein Kerberos-Ticket gesendet.',
  'reason.ntlm_refused':
    'Ihr Browser hat kein Kerberos-Ticket für dieses Portal und hat NTLM angeboten. NTLM wird nicht akzeptiert.',
  'reason.clock_skew':
    'Ihr Ticket ist abgelaufen, oder Ihre Uhr weicht von der des Portals ab.',
  'reason.unknown_service_key':
    'Ihr Ticket ist für einen anderen Server oder einen früheren Schlüssel dieses Servers.',
  'reason.replayed':
    'Das Portal hat dasselbe Kerberos-Token zweimal erhalten. Versuchen Sie es erneut, um ein neues Token zu senden. Wenn es wieder geschieht, wiederholt möglicherweise ein Proxy Anfragen. Wenden Sie sich dann an die Administration.',
  'reason.realm_refused': 'Tickets Ihres Realms werden nicht akzeptiert.',
  'reason.malformed_token':
    'Ihr Browser hat ein ungültiges Kerberos-Token gesendet.',
  'reason.token_too_large':
    'Ihr Ticket ist größer, als das Portal akzeptiert. Wenden Sie sich an die Administration.',
  'reason.continuation_required':
    'Ihr Browser unterstützt Negotiate, hat aber kein Kerberos-Ticket für dieses Portal.',
  'reason.unknown_principal':
    'Ihr Ticket ist gültig, aber zu Ihrem Konto gehört kein Benutzer im Portal. Wenden Sie sich an die Administration oder verwenden Sie ein anderes Konto.',
  'reason.account_locked':
    'Ihr Konto ist gesperrt. Wenden Sie sich an die Administration.',
  'reason.account_expired':
    'Ihr Konto ist abgelaufen. Wenden Sie sich an die Administration.',
  'reason.service_principal':
    'Ihr Ticket gehört einem Dienst oder Host. Nur Benutzer können sich anmelden.',
  'reason.unusable_name':
    'Ihr Benutzername enthält Zeichen, die das Portal nicht verwenden kann. Wenden Sie sich an die Administration.',
  'clock.ahead_one': 'Ihre Uhr geht {{count}} Minute vor.',
  'clock.ahead_other': 'Ihre Uhr geht {{count}} Minuten vor.',
  'clock.behind_one': 'Ihre Uhr geht {{count}} Minute nach.',
  'clock.behind_other': 'Ihre Uhr geht {{count}} Minuten nach.',
  'fix.ticketTitle': 'Ticket holen',
  'fix.ticketCommand': 'In einem Terminal:',
  'fix.ticketWindows':
    'Melden Sie sich mit Ihrem Domänenkonto an Windows an. Windows holt Tickets dann automatisch.',
  'fix.ticketOther':
    'Melden Sie sich mit dem Konto Ihrer Organisation an diesem Gerät an.',
  'fix.allowHostTitle': 'Ticket für {{host}} in {{browser}} freigeben',
  'fix.allowHostCommand':
    'In einem Terminal, gefolgt von einem Neustart von {{browser}}:',
  'fix.allowHostFirefox':
    'Öffnen Sie {{page}}, suchen Sie nach {{preference}} und setzen Sie den Wert auf:',
  'fix.allowHostOther':
    'Erlauben Sie in den Einstellungen des Browsers die integrierte Authentifizierung (Negotiate) für {{host}}.',
  'fix.clockTitle': 'Uhr stellen',
  'fix.clockCommand': 'In einem Terminal:',
  'fix.clockOther': 'Lassen Sie Ihr System die Uhr aus dem Netz stellen.',
  'browser.chrome': 'Chrome',
  'browser.chromium': 'Chromium',
  'browser.edge': 'Edge',
  'browser.firefox': 'Firefox',
  'browser.safari': 'Safari',
  'browser.other': 'Ihrem Browser',
  'action.signIn': 'Anmelden',
  'action.tryAgain': 'Erneut versuchen',
  'action.enterAs': 'Als {{name}} anmelden (Demo)',
  'action.copy': 'Kopieren',
  'action.copied': 'Kopiert',
  'action.copyFailed': 'Kopieren nicht möglich',
  'action.help': 'Weitere Hilfe',
};
