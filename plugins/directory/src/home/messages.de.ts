export const homeGerman = {
  'home.search.title': 'Personen und Gruppen suchen',
  'home.search.placeholder': 'Personen und Gruppen suchen…',
  'home.groups.title': 'Meine Gruppen',
  'home.groups.all': 'Alle Gruppen',
  'home.groups.more': 'und {{number}} weitere',
  'home.groups.none':
    'Sie sind in keiner Gruppe Mitglied. Um einer Gruppe beizutreten, öffnen Sie ihre Seite und wenden Sie sich an einen ihrer Sponsoren.',
  'home.groups.notMapped':
    'Ihr Konto ist nicht mit einem Benutzer des Verzeichnisses verknüpft. Daher sind Sie in keiner Gruppe Mitglied.',
  'home.changes.title': 'Letzte Änderungen',
  'home.changes.addedYou': 'Sie wurden in {{group}} aufgenommen',
  'home.changes.removedYou': 'Sie wurden aus {{group}} entfernt',
  'home.changes.added': '{{name}} wurde in {{group}} aufgenommen',
  'home.changes.removed': '{{name}} wurde aus {{group}} entfernt',
  'home.certificates.title': 'Meine Zertifikate',
  'home.certificates.all': 'Alle Zertifikate',
  'home.certificates.none':
    'Sie haben keine gültigen Zertifikate dieses Portals.',
  'home.certificates.fine':
    'Kein Zertifikat braucht Ihre Aufmerksamkeit. Das nächste läuft {{left}} ab.',
  'home.certificates.notMapped':
    'Ihr Konto ist nicht mit einem Benutzer des Verzeichnisses verknüpft. Nur Benutzer des Verzeichnisses haben Zertifikate.',
  'home.recent.title': 'Zuletzt besucht',
  'home.recent.all': 'Alle Personen',
  'home.recent.none': 'Personen, deren Seiten Sie besuchen, erscheinen hier.',
  'home.colleagues.more': 'Weitere Personen',
  'home.colleagues.none':
    'Personen, die mit Ihnen eine Gruppe gemeinsam haben, erscheinen hier.',
};
