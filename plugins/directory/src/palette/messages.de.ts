export const paletteGerman = {
  'palette.title': 'Suchen',
  'palette.close': 'Schließen',
  'palette.unavailable':
    '„Suchen“ konnte nicht geöffnet werden. Versuchen Sie es erneut, oder laden Sie die Seite neu.',
  'palette.label': 'Personen, Gruppen, Katalog und Zertifikate durchsuchen',
  'palette.placeholder': 'Name oder Seriennummer',
  'palette.hint':
    'Geben Sie einen Namen oder die Seriennummer eines Zertifikats ein.',
  'palette.keys':
    'Eingabe öffnet einen Treffer, Strg+Eingabe öffnet ihn in einem neuen Tab.',
  'palette.results': 'Treffer',
  'palette.total_one': '{{number}} Treffer',
  'palette.total_other': '{{number}} Treffer',
  'palette.none':
    'Keine Treffer. Suchen Sie Personen anhand von Name, E-Mail-Adresse oder Nick, Gruppen und Katalogeinträge anhand des Namens und Zertifikate anhand der Seriennummer.',
  'palette.section.people': 'Personen',
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
    'Das sieht nach einem privaten Schlüssel aus. Er wurde aus dem Feld entfernt und nicht gesendet.',
  'palette.long':
    'Dieser Text ist zu lang für eine Suche und wurde nicht gesendet.',
  'palette.serial': 'Seriennummer {{serial}}',
  'palette.copyEmail': 'E-Mail-Adresse kopieren',
  'palette.openChat': 'Chat öffnen',
};
