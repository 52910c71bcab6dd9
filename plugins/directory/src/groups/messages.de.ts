export const groupsGerman = {
  'groups.search.label': 'Gruppen suchen',
  'groups.search.placeholder': 'Teil des Namens oder der Beschreibung…',
  'groups.column.group': 'Gruppe',
  'groups.column.description': 'Beschreibung',
  'groups.column.members': 'Mitglieder',
  'groups.column.links': 'Links',
  'groups.filter.label': 'Angezeigte Gruppen',
  'groups.filter.all': 'Alle Gruppen',
  'groups.filter.mine': 'Meine Gruppen',
  'groups.total_one': '{{number}} Gruppe',
  'groups.total_other': '{{number}} Gruppen',
  'groups.linkOf': '{{kind}} von {{group}}: {{text}}',
  'groups.noResults.title': 'Keine Gruppen gefunden',
  'groups.noResults.searched':
    'Keine Gruppe enthält „{{text}}“ im Namen oder in der Beschreibung.',
  'groups.noResults.searchedMine':
    'Keine Ihrer Gruppen hat „{{text}}“ im Namen oder in der Beschreibung.',
  'groups.noResults.mine': 'Sie sind in keiner Gruppe Mitglied.',
  'groups.noResults.showAll': 'Alle Gruppen anzeigen',
  'groups.noResults.empty': 'Es gibt keine Gruppen',
  'groups.noResults.emptyHint':
    'Das Verzeichnis enthält keine Gruppen, die angezeigt werden können.',
};
