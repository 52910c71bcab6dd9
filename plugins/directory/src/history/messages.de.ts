export const historyGerman = {
  'history.title': 'Verlauf',
  'history.hint':
    'Änderungen des Namens und der Mitglieder, auch über Untergruppen',
  'history.none': 'Es sind keine Änderungen aufgezeichnet.',
  'history.ofGroup.group_created': 'Gruppe angelegt',
  'history.ofGroup.group_renamed': 'Umbenannt, früher {{oldName}}',
  'history.ofGroup.member_added': '{{name}} wurde hinzugefügt',
  'history.ofGroup.member_removed': '{{name}} wurde entfernt',
  'history.ofGroup.members_changed':
    'Mehr als 500 Mitglieder oder nur direkte Mitgliedschaften wurden geändert',
  'history.ofUser.user_created': 'Konto angelegt',
  'history.ofUser.user_renamed': 'Umbenannt, früher {{oldName}}',
  'history.ofUser.member_added': 'Zu {{name}} hinzugefügt',
  'history.ofUser.member_removed': 'Aus {{name}} entfernt',
};
