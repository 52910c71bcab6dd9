export const paletteGerman = {
  'palette.title': 'Suchen',
  'palette.close': 'Schließen',
  'palette.unavailable':
    '„Suchen“ konnte nicht geöffnet werden. Versuchen Sie es erneut, oder laden Sie die Seite neu.',
  'palette.label': 'Personen, Gruppen, Katalog und Zertifikate durchsuchen',
  'palette.placeholder': 'Name, Seriennummer oder öffentlicher Schlüssel',
  'palette.hint':
    'Geben Sie einen Namen oder eine Seriennummer ein, oder fügen Sie ein Zertifikat, einen CSR oder einen öffentlichen Schlüssel ein.',
  'palette.keys':
    'Eingabe öffnet einen Treffer, Strg+Eingabe öffnet ihn in einem neuen Tab.',
  'palette.results': 'Treffer',
  'palette.total_one': '{{number}} Treffer',
  'palette.total_other': '{{number}} Treffer',
  'palette.none':
    'Keine Treffer. Suchen Sie Personen anhand von Name, E-Mail-Adresse, Nick oder öffentlichem Schlüssel, Gruppen und Katalogeinträge anhand des Namens und Zertifikate anhand der Seriennummer (Ihre eigenen auch anhand des SHA-256-Fingerabdrucks).',
  'palette.noOwner': 'Kein sichtbares Profil enthält diesen Schlüssel.',
  'palette.noFingerprint':
    'Keines Ihrer Zertifikate und kein OpenPGP-Schlüssel in einem sichtbaren Profil hat diesen Fingerabdruck. Suchen Sie Zertifikate anderer Benutzer anhand der Seriennummer.',
  'palette.section.people': 'Personen',
  'palette.section.owners': 'Personen mit diesem Schlüssel',
  'palette.section.groups': 'Gruppen',
  'palette.section.catalog': 'Katalog',
  'palette.section.certificates': 'Zertifikate',
  'palette.failed.people':
    'Die Suche nach Personen ist fehlgeschlagen. Sie wird automatisch wiederholt.',
  'palette.failed.groups':
    'Die Suche nach Gruppen ist fehlgeschlagen. Sie wird automatisch wiederholt.',
  'palette.failed.catalog':
    'Die Suche im Katalog ist fehlgeschlagen. Sie wird automatisch wiederholt.',
  'palette.failed.certificates':
    'Die Suche nach Zertifikaten ist fehlgeschlagen. Sie wird automatisch wiederholt.',
  'palette.secret':
    'Das sieht nach einem privaten Schlüssel aus. Er wurde aus dem Feld entfernt und nicht gesendet. Fügen Sie stattdessen den öffentlichen Schlüssel ein.',
  'palette.long':
    'Dieser Text ist zu lang für eine Suche und wurde nicht gesendet. Fügen Sie ein Zertifikat, einen CSR oder einen öffentlichen SSH-Schlüssel ein.',
  'palette.pgpBlock':
    'Fügen Sie statt des Schlüssels die Schlüssel-ID oder den Fingerabdruck des OpenPGP-Schlüssels ein.',
  'palette.unreadable':
    'Dieser Text kann nicht gelesen werden, weil er unvollständig oder beschädigt ist. Fügen Sie ihn noch einmal vollständig ein.',
  'palette.needsHttps':
    'Der Fingerabdruck eines Schlüssels kann nur auf Seiten mit HTTPS berechnet werden. Fügen Sie stattdessen den Fingerabdruck ein.',
  'palette.certificate':
    'Zertifikat für {{subject}}, ausgestellt von {{issuer}}, Seriennummer {{serial}}.',
  'palette.unknownCertificate': 'Dieses Portal kennt es nicht.',
  'palette.csr':
    'Zertifikatsanforderung (CSR) für {{subject}} mit dem Schlüssel {{key}}.',
  'palette.csrNames': 'Gewünschte Namen: {{names}}.',
  'palette.serial': 'Seriennummer {{serial}}',
  'palette.copyEmail': 'E-Mail-Adresse kopieren',
  'palette.openChat': 'Chat öffnen',
};
