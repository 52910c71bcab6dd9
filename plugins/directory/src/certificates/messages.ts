export const certificateMessages = {
  title: 'Certificate {{serial}}',
  named: '{{label}} · {{purpose}}',
  about: 'About this certificate',
  purpose: 'Purpose',
  anyPurpose: 'Any purpose',
  otherPurpose: 'Other purpose ({{name}})',
  use: {
    clientAuth: 'Signing in to servers and websites',
    emailProtection: 'Signed or encrypted email',
    codeSigning: 'Code signing',
    serverAuth: 'Running a server',
    smartcardLogon: 'Signing in to Windows',
    pkinitClientAuth: 'Getting Kerberos tickets',
    timeStamping: 'Time stamping',
    OCSPSigning: 'Certificate status responses (OCSP)',
    anyExtendedKeyUsage: 'Any purpose',
  },
  label: {
    name: 'Label',
    set: 'Set label',
    change: 'Change label',
    title: 'Certificate label',
    hint: 'For example, the device that uses the certificate. Up to {{length}} characters. Leave empty to remove the label.',
    cancel: 'Cancel',
    save: 'Save label',
  },
  subject: 'Subject',
  issuer: 'Issuer',
  owner: 'Owner',
  serial: 'Serial number',
  copySerial: 'Copy serial number {{serial}}',
  hexadecimal: 'Hexadecimal',
  expires: 'Expires',
  expiresIn: 'Expires {{left}} · {{date}}',
  expiredAgo: 'Expired {{left}} · {{date}}',
  from: 'Valid from',
  range: 'From {{from}} to {{to}}',
  key: 'Key',
  state: {
    title: 'State',
    valid: 'Valid',
    expiring: 'Expires soon',
    expired: 'Expired',
    revoked: 'Revoked',
    hold: 'On hold',
    holdHint:
      'Servers that check the CRL reject this certificate. The certificates of a locked account are on hold until the account is unlocked. If the account is not locked, contact your administrator.',
    notYet: 'Not valid yet',
    foreign: 'External',
    foreignHint:
      'Not issued by this portal’s CAs. The owner may have added it.',
    unchecked: 'Not checked',
    uncheckedHint:
      'The CA is unavailable, so the state could not be checked. Try again later.',
  },
  names: 'Alternative names',
  noNames: 'No alternative names.',
  name: {
    email: 'Email addresses',
    userPrincipal: 'User principal names',
    kerberosPrincipal: 'Kerberos principals',
    host: 'Host names',
    ipAddress: 'IP addresses',
    uri: 'URIs',
    directoryName: 'Directory names',
    registeredId: 'Registered identifiers',
    unusual: 'Other names',
  },
  chain: 'Chain of trust',
  chainHint: 'Each certificate is signed by the next one.',
  noChain:
    'The CA does not provide the chain of this certificate. Issuer: {{issuer}}.',
  this: 'This certificate',
  root: 'Root, self-signed',
  until: 'until',
  usage: 'Usage',
  keyUsage: 'Key usage',
  keyUsages: {
    digitalSignature: 'Digital signature',
    nonRepudiation: 'Non-repudiation',
    keyEncipherment: 'Key encipherment',
    dataEncipherment: 'Data encipherment',
    keyAgreement: 'Key agreement',
    keyCertSign: 'Certificate signing',
    cRLSign: 'CRL signing',
    encipherOnly: 'Encipher only',
    decipherOnly: 'Decipher only',
  },
  anyUsage: 'Not restricted',
  fingerprints: 'Fingerprints',
  copyFingerprint: 'Copy {{kind}} fingerprint',
  revoked: 'This certificate is revoked',
  revokedHint: 'Servers that check the CRL reject this certificate.',
  revokedOn: 'Revoked {{date}}. Reason: {{reason}}.',
  revokedWhy: 'Reason: {{reason}}.',
  onHold: 'This certificate is on hold',
  noHold:
    'If your account is locked, this certificate stays valid until it is revoked or expires.',
  noRevocation:
    'This certificate cannot be revoked. It stays valid until it expires.',
  reason: {
    unspecified: 'not specified',
    keyCompromise: 'the key was compromised',
    caCompromise: 'the CA was compromised',
    affiliationChanged: 'affiliation changed',
    superseded: 'superseded by another certificate',
    cessationOfOperation: 'no longer in use',
    certificateHold: 'on hold',
    removeFromCrl: 'removed from the CRL',
    privilegeWithdrawn: 'privilege withdrawn',
    aaCompromise: 'the attribute authority was compromised',
  },
  renew: 'Renew',
  download: 'Download',
  commandLine: {
    title: 'Renew on the command line',
    curl: 'curl',
    curlHint:
      'Renews once, with a Kerberos ticket and a new key. For machines, your administrator can set up renewals with a robot account.',
  },
  notFound: {
    title: 'Certificate {{serial}} not found',
    description: 'This portal’s CAs did not issue it.',
  },
  notSerial: {
    title: '“{{text}}” is not a serial number',
    description: 'Serial numbers are decimal, or hexadecimal such as 0x1A2B.',
  },
  revoke: {
    button: 'Revoke certificate',
    title: 'Revoke this certificate?',
    description:
      'This cannot be undone. Servers that check the CRL will reject the certificate.',
    why: 'Reason',
    reason: {
      superseded: 'Another certificate has replaced it',
      cessationOfOperation: 'It is no longer needed',
      keyCompromise: 'The device or the key was lost, stolen or exposed',
      affiliationChanged: 'The owner’s name or affiliation has changed',
      privilegeWithdrawn: 'The owner is no longer allowed to have it',
      unspecified: 'Another reason',
    },
    cancel: 'Cancel',
    confirm: 'Revoke certificate',
    working: 'Revoking…',
    signInAgain:
      'To revoke your certificate, you must have signed in recently. Sign in again. If you use Kerberos, get a new ticket first.',
  },
} as const;

export const certificatesMessages = {
  mine: 'My certificates',
  request: 'Request a certificate',
  today: 'Today',
  actionsOf: 'Actions for {{name}} ({{serial}})',
  details: 'Details',
  pem: 'Download certificate',
  chainPem: 'Download chain',
  noneOfUser: 'No certificates',
  none: {
    title: 'You have no certificates',
    description:
      'A certificate proves your identity to servers and applications. Its private key is generated in this browser and is never sent.',
  },
  open: {
    label: 'Open a certificate by its serial number',
    hint: 'Decimal or hexadecimal',
    invalid:
      'Enter a serial number: digits, or hexadecimal such as 0x1A2B or 1A:2B',
    button: 'Open certificate',
  },
  noAuthority: {
    title: 'This portal does not issue certificates',
    description:
      'No certificate authority (CA) is configured. Contact your administrator.',
  },
  notMapped: {
    title: 'Your account is not linked to a directory user',
    description: 'Only directory users have certificates.',
  },
} as const;

export const requestMessages = {
  title: 'Request a certificate',
  renewing:
    'Renewing “{{name}}”. The old certificate stays valid until it is revoked or expires.',
  back: 'Back',
  next: 'Continue',
  notAllowed: {
    title: 'You are not allowed to request certificates',
    description: 'Contact your administrator.',
  },
  steps: 'Steps',
  step: {
    profile: 'Profile',
    key: 'Key',
    check: 'Review',
    done: 'Done',
  },
  profile: {
    title: 'Choose a purpose',
    lifetime: 'Valid for {{lifetime}}',
    name: 'Profile {{name}}',
    none: {
      title: 'No certificate profile is available to you',
      description:
        'The certificate profiles of this portal are available only to members of certain groups.',
    },
  },
  key: {
    title: 'Choose a key',
    generate: 'Generate a key',
    generateHint:
      'The private key is generated in this browser and is never sent. Only the CSR for {{username}} is sent.',
    type: 'Key type',
    p256: 'P-256 (recommended)',
    rsa3072: 'RSA 3072, for older software',
    own: 'Use my own CSR',
    ownHint: 'Created with OpenSSL, certtool or a hardware token.',
    csr: 'Certificate signing request (PEM)',
    csrHint: 'Paste it, or drop the file here',
    invalid:
      'Not a certificate signing request in PEM format (-----BEGIN CERTIFICATE REQUEST-----).',
    unread: 'The CSR could not be checked. Reload the page.',
    tooLarge:
      'The file is larger than 64 KiB. Drop a file that contains only the CSR.',
    privateKey: 'This contains a private key. Paste only the CSR.',
    proof: 'Proof of possession',
    proven: 'Valid',
    unproven: 'Invalid, or a key type that this browser cannot verify',
    generating: 'Generating key…',
    failed: 'The key could not be generated. Try again, or reload the page.',
    insecure:
      'Keys can be generated only over HTTPS. Use your own CSR instead.',
  },
  check: {
    title: 'Review the request',
    checking: 'Checking…',
    passed: 'Passed',
    failed: 'Failed',
    open: 'Not checked',
    labelHint:
      'For example, the device that uses the certificate. Up to {{length}} characters. Optional.',
    request: 'Request certificate',
    requesting: 'Requesting…',
    allPassed: 'All checks passed',
    someFailed:
      'Some checks failed, so no certificate is issued. Go back to change the request.',
  },
  rule: {
    principal: 'The account is active',
    requester: 'You are allowed to request it',
    profile: 'The profile is available to you',
    request: 'The CSR is valid and proves possession of the key',
    key: 'The key is not known to be compromised',
    common_name: 'The CN is the username',
    email_address: 'The email addresses in the subject are the user’s',
    rfc822_name: 'The email addresses in the alternative names are the user’s',
    principal_name: 'The principals in the alternative names are the user’s',
    other_name: 'The CSR has no other types of alternative names',
  },
  failure: {
    principal: 'The account does not exist, is locked or has expired',
    requester: 'You are not allowed to request it',
    profile: 'The profile is not available to you',
    request: 'The CSR is invalid or does not prove possession of the key',
    key: 'The CA does not accept this key',
    common_name: 'The subject must have exactly one CN: the username',
    email_address: 'The subject has an email address that is not the user’s',
    rfc822_name:
      'The alternative names have an email address that is not the user’s',
    principal_name:
      'The alternative names have a principal that is not the user’s',
    other_name:
      'The CSR has alternative names that are neither email addresses nor principals',
  },
  done: {
    title: 'Certificate issued',
    details: 'Certificate details',
    saved:
      'The private key was downloaded. It is removed from this page when you leave.',
    p12: 'PKCS#12, for browsers and mail clients',
    p12Hint: 'Key and certificate in one file, encrypted with a passphrase.',
    passphrase: 'Passphrase',
    passphraseHint:
      'At least {{length}} ASCII letters, digits or symbols. You will need it once, when you import the file.',
    passphraseShort_one: 'One more character is needed.',
    passphraseShort_other: '{{count}} more characters are needed.',
    passphraseAscii:
      'Only ASCII letters, digits, symbols and spaces work in all applications. Remove other characters, such as ä.',
    downloadP12: 'Download PKCS#12',
    saveFailed:
      'The file could not be created. Try again, or choose the other format.',
    pem: 'PEM, for command-line tools',
    pemHint:
      'Key and certificate as text. The private key is not encrypted. Anyone who can read the file can use the key.',
    downloadPem: 'Download key and certificate',
    certificateOnly: 'Certificate only',
    certificateOnlyHint: 'Does not contain the private key.',
    downloadCertificate: 'Download certificate',
    usage: 'How to use it',
    firefox: 'Firefox',
    firefoxHint:
      'Settings → Privacy & Security → View Certificates → Your Certificates → Import, then choose the PKCS#12 file.',
    chrome: 'Chrome and Chromium',
    chromeHint:
      'Settings → Privacy and security → Security → Manage certificates → Your certificates → Import, then choose the PKCS#12 file. On Windows and macOS, open the PKCS#12 file directly.',
    convert: 'Prepare a file for browsers',
    convertHint: 'Combine your key and the certificate in one PKCS#12 file:',
    curl: 'curl',
    curlHint: 'Pass the certificate and the key to each request:',
    git: 'git',
    gitHint: 'Add the certificate to the repository’s Git configuration:',
    old: 'Old certificate',
    oldHint: 'Install the new certificate first, then revoke the old one.',
    ssh: 'ssh',
    sshHint: 'For servers that authenticate users by certificate (SSSD):',
  },
  unsaved: {
    label: 'Unsaved private keys',
    status_one: 'One private key is not saved.',
    status_other: '{{count}} private keys are not saved.',
    issued: 'The private key of “{{name}}” is not saved.',
    issuedHint:
      'Serial number {{serial}}. The key is lost when you close or reload this tab, or sign out.',
    unknown:
      'A private key is not saved. A certificate may have been issued for it.',
    unknownHint:
      'It is not known whether the request succeeded. Download the key, check your certificates, then discard the key here.',
    save: 'Save key',
    download: 'Download key',
    discard: 'Discard key',
    discardTitle: 'Discard the private key?',
    discardHint:
      'A certificate cannot be used without its private key. It stays valid until it is revoked or expires.',
    keep: 'Keep key',
  },
} as const;
