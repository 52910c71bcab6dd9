/** German messages of the fields. */
export default {
  'user.label': 'Benutzer',
  'user.placeholder': 'Nach Benutzername oder vollem Namen suchen',
  'group.label': 'Gruppe',
  'group.placeholder': 'Nach Name oder Beschreibung suchen',
  unavailable: 'Das Verzeichnis ist nicht verfügbar. Versuchen Sie es erneut.',
};
