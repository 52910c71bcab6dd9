/** The texts of the navigation in German. */
export default {
  home: '{{title}}, Startseite',
  menu: 'Menü',
  'page.catalog': 'Katalog',
  'page.certificates': 'Zertifikate',
  'page.groups': 'Gruppen',
  'page.notifications': 'Mitteilungen',
  'page.people': 'Personen',
  'page.search': 'Suche',
  'page.settings': 'Einstellungen',
};
