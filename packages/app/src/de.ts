/** German messages for the portal itself. */
export default {
  find: 'Suchen',
  home: '{{title}}, Startseite',
  menu: 'Menü',
  'notFound.title': 'Seite nicht gefunden',
  'notFound.description': 'Dieses Portal hat unter dieser Adresse keine Seite.',
  'notFound.home': 'Zur Startseite',
  'page.catalog': 'Katalog',
  'page.certificates': 'Zertifikate',
  'page.groups': 'Gruppen',
  'page.home': 'Startseite',
  'page.notifications': 'Mitteilungen',
  'page.people': 'Personen',
  'page.search': 'Katalogsuche',
  'page.settings': 'Einstellungen',
  skip: 'Zum Inhalt springen',
  welcome: 'Willkommen bei {{title}}',
};
