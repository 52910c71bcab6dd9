export const paletteMessages = {
  title: 'Find',
  close: 'Close',
  unavailable: '“Find” could not be opened. Try again, or reload the page.',
  label: 'Search people, groups, the catalog and certificates',
  placeholder: 'Name, serial number or public key',
  hint: 'Type a name or a serial number, or paste a certificate, a CSR or a public key.',
  keys: 'Press Enter to open a result, or Ctrl+Enter to open it in a new tab.',
  results: 'Results',
  total_one: '{{number}} result',
  total_other: '{{number}} results',
  none: 'No results. Search for people by name, email address, nick or public key; for groups and catalog entities by name; and for certificates by serial number. You can also find your own certificates by SHA-256 fingerprint.',
  noOwner: 'No visible profile contains this key.',
  noFingerprint:
    'None of your certificates has this fingerprint, and no visible profile contains an OpenPGP key with it. To find other users’ certificates, search by serial number.',
  section: {
    people: 'People',
    owners: 'People with this key',
    groups: 'Groups',
    catalog: 'Catalog',
    certificates: 'Certificates',
  },
  failed: {
    people: 'The people search failed. Retrying automatically.',
    groups: 'The group search failed. Retrying automatically.',
    catalog: 'The catalog search failed. Retrying automatically.',
    certificates: 'The certificate search failed. Retrying automatically.',
  },
  secret:
    'This looks like a private key. It was removed from the field and was not sent. Paste the public key instead.',
  long: 'This text is too long to search for and was not sent. Paste a certificate, a CSR or an SSH public key.',
  pgpBlock:
    'Paste the key ID or fingerprint of the OpenPGP key instead of the key itself.',
  unreadable:
    'This text cannot be read because it is incomplete or damaged. Paste it again in full.',
  needsHttps:
    'The fingerprint of a key can be computed only on pages served over HTTPS. Paste the fingerprint instead.',
  certificate:
    'Certificate for {{subject}}, issued by {{issuer}}, serial number {{serial}}.',
  unknownCertificate: 'It is not known to this portal.',
  csr: 'Certificate signing request for {{subject}} with the key {{key}}.',
  csrNames: 'Requested names: {{names}}.',
  serial: 'Serial number {{serial}}',
  copyEmail: 'Copy email address',
  openChat: 'Open chat',
} as const;
