export const paletteMessages = {
  title: 'Find',
  close: 'Close',
  label: 'Search people, groups, the catalog and certificates',
  placeholder: 'Name, serial number or public key',
  hint: 'Type a name or a serial number, or paste a certificate, a CSR or a public key.',
  keys: 'Enter opens a result, Ctrl+Enter opens it in a new tab.',
  results: 'Results',
  total_one: '{{number}} result',
  total_other: '{{number}} results',
  none: 'No results. People are found by names, e-mail addresses, nicks and public keys; groups and the catalog by names; certificates by serial numbers.',
  noOwner: 'No user shows this key in their profile.',
  section: {
    people: 'People',
    owners: 'People with this key',
    groups: 'Groups',
    catalog: 'Catalog',
    certificates: 'Certificates',
  },
  failed: {
    people: 'People could not be searched. The search is retried.',
    groups: 'Groups could not be searched. The search is retried.',
    catalog: 'The catalog could not be searched. The search is retried.',
    certificates: 'Certificates could not be searched. The search is retried.',
  },
  secret:
    'This is a private key. It was removed from the field and was not sent. Paste the public key instead.',
  long: 'This text is too long for a search and was not sent. Paste a certificate, a CSR or an SSH public key.',
  pgpBlock:
    'Paste the key ID or the fingerprint of the OpenPGP key instead of the key.',
  unreadable: 'This text is incomplete or damaged: it cannot be read.',
  needsHttps:
    'The fingerprint of a key can only be computed on pages with https. Paste the fingerprint instead.',
  certificate:
    'Certificate for {{subject}}, issued by {{issuer}}, serial number {{serial}}.',
  unknownCertificate: 'It is not known to this portal.',
  csr: 'Certificate signing request for {{subject}} with the key {{key}}.',
  csrNames: 'Requested names: {{names}}.',
  serial: 'Serial number {{serial}}',
  copyEmail: 'Copy e-mail address',
  openChat: 'Open chat',
} as const;
