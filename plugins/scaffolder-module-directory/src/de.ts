/** The texts of the fields in German. */
export default {
  'user.label': 'Benutzer',
  'user.placeholder': 'Nach Benutzername oder Name suchen',
  'group.label': 'Gruppe',
  'group.placeholder': 'Nach Name oder Beschreibung suchen',
  unavailable: 'Das Verzeichnis ist nicht verfügbar. Versuchen Sie es erneut.',
};
