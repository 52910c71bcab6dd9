export const homeGerman = {
  'home.search.title': 'Personen und Gruppen suchen',
  'home.search.placeholder': 'Personen und Gruppen suchen …',
  'home.groups.title': 'Meine Gruppen',
  'home.groups.all': 'Alle Gruppen',
  'home.groups.more': 'und {{number}} weitere',
  'home.groups.none':
    'Sie sind in keiner Gruppe. Sponsoren nehmen Mitglieder in eine Gruppe auf: Die Seite der Gruppe zeigt, wer sie sind.',
  'home.groups.notMapped':
    'Ihr Konto gehört zu keinem Benutzer des Verzeichnisses und ist daher in keiner Gruppe.',
  'home.changes.title': 'Letzte Änderungen',
  'home.changes.addedYou': 'Sie wurden in {{group}} aufgenommen',
  'home.changes.removedYou': 'Sie wurden aus {{group}} entfernt',
  'home.changes.added': '{{name}} wurde in {{group}} aufgenommen',
  'home.changes.removed': '{{name}} wurde aus {{group}} entfernt',
  'home.certificates.title': 'Meine Zertifikate',
  'home.certificates.all': 'Alle Zertifikate',
  'home.certificates.none': 'Sie haben keine gültigen Zertifikate.',
  'home.certificates.fine':
    'Kein Zertifikat braucht Ihre Aufmerksamkeit. Das nächste läuft {{left}} ab.',
  'home.certificates.notMapped':
    'Ihr Konto gehört zu keinem Benutzer des Verzeichnisses. Nur Benutzer des Verzeichnisses haben Zertifikate.',
  'home.recent.title': 'Zuletzt geöffnet',
  'home.recent.all': 'Alle Personen',
  'home.recent.none': 'Personen, deren Seiten Sie öffnen, erscheinen hier.',
  'home.colleagues.more': 'Weitere Personen',
  'home.colleagues.none':
    'Sie haben mit niemandem eine Gruppe gemeinsam. Sobald das so ist, erscheinen die Personen hier.',
};
