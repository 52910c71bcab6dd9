export const paletteGerman = {
  'palette.title': 'Suchen',
  'palette.close': 'Schließen',
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
    'Keine Treffer. Personen werden über Namen, E-Mail-Adressen, Nicks und öffentliche Schlüssel gefunden, Gruppen und Katalog über Namen, Zertifikate über Seriennummern.',
  'palette.noOwner': 'Kein Benutzer zeigt diesen Schlüssel in seinem Profil.',
  'palette.section.people': 'Personen',
  'palette.section.owners': 'Personen mit diesem Schlüssel',
  'palette.section.groups': 'Gruppen',
  'palette.section.catalog': 'Katalog',
  'palette.section.certificates': 'Zertifikate',
  'palette.failed.people':
    'Personen konnten nicht durchsucht werden. Die Suche wird wiederholt.',
  'palette.failed.groups':
    'Gruppen konnten nicht durchsucht werden. Die Suche wird wiederholt.',
  'palette.failed.catalog':
    'Der Katalog konnte nicht durchsucht werden. Die Suche wird wiederholt.',
  'palette.failed.certificates':
    'Zertifikate konnten nicht durchsucht werden. Die Suche wird wiederholt.',
  'palette.secret':
    'Das ist ein privater Schlüssel. Er wurde aus dem Feld entfernt und nicht gesendet. Fügen Sie stattdessen den öffentlichen Schlüssel ein.',
  'palette.long':
    'Dieser Text ist zu lang für eine Suche und wurde nicht gesendet. Fügen Sie ein Zertifikat, einen CSR oder einen öffentlichen SSH-Schlüssel ein.',
  'palette.pgpBlock':
    'Fügen Sie statt des Schlüssels die Schlüssel-ID oder den Fingerabdruck des OpenPGP-Schlüssels ein.',
  'palette.unreadable':
    'Dieser Text ist unvollständig oder beschädigt und kann nicht gelesen werden.',
  'palette.needsHttps':
    'Der Fingerabdruck eines Schlüssels kann nur auf Seiten mit https berechnet werden. Fügen Sie stattdessen den Fingerabdruck ein.',
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
