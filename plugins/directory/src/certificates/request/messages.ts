export const requestMessages = {
  title: 'Request a certificate',
  back: 'Back',
  next: 'Continue',
  step: {
    profile: 'Profile',
    key: 'Key',
    check: 'Check',
    done: 'Done',
  },
  steps: 'Steps',
  profile: {
    title: 'What is it for?',
    lasts: 'Lasts {{lifetime}}',
    name: 'Profile {{name}}',
    use: {
      clientAuth: 'Signing in to servers and web sites',
      emailProtection: 'Signed and encrypted e-mail',
      codeSigning: 'Signing programs',
      serverAuth: 'Running a server',
      smartcardLogon: 'Signing in to Windows',
      pkinitClientAuth: 'Getting Kerberos tickets',
    },
    none: {
      title: 'There is no certificate for you to request',
      description:
        'The kinds of certificates that this portal offers are for members of certain groups.',
    },
  },
  key: {
    title: 'Whose key?',
    make: 'Make one here',
    makeHint:
      'This browser makes the key. It never leaves the browser; only the request for {{username}} is sent.',
    kind: 'Kind of key',
    p256: 'P-256 (recommended)',
    rsa3072: 'RSA-3072, for old software',
    own: 'I have a request (CSR)',
    ownHint: 'Made with OpenSSL, certtool or a hardware token.',
    paste: 'Certificate request, PEM',
    pasteHint: 'Paste it, or drop the file here',
    unreadable:
      'This is no certificate request in PEM (-----BEGIN CERTIFICATE REQUEST-----).',
    privateKey:
      'This holds a private key. Keep it to yourself: only the request belongs here.',
    subject: 'Subject',
    type: 'Key',
    names: 'Alternative names',
    proof: 'Signed with its key',
    yes: 'Yes',
    no: 'No, or not a kind that this browser can verify',
    making: 'Making the key',
    insecure:
      'Browsers make keys on secure pages only (https). Bring a request instead.',
  },
  check: {
    title: 'May it be signed?',
    checking: 'Asking the portal',
    passed: 'Holds',
    failed: 'Does not hold',
    open: 'Not asked yet',
    sign: 'Sign it',
    signing: 'Being signed',
    refused:
      'Not all rules hold, so nothing is signed. What you entered is kept: go back to change it.',
    ready: 'Every rule holds. Nothing has been signed yet.',
  },
  rule: {
    principal: 'The account is in use',
    requester: 'You may ask for it',
    profile: 'The profile is offered to you',
    request: 'The request is sound and proves its key',
    key: 'The key was not revoked as compromised',
    common_name: 'The common name is the user name',
    email_address: 'E-mail addresses of the subject',
    rfc822_name: 'E-mail addresses among the other names',
    principal_name: 'Principals among the other names',
    other_name: 'No other names of another kind',
  },
  done: {
    title: 'Here is your certificate',
    serial: 'Serial number',
    ends: 'Valid to',
    details: 'Details',
    unsaved:
      'The key is in this page only, and is forgotten when you leave it. Save it now.',
    saved:
      'The key has been handed to your downloads. It is still forgotten when you leave this page.',
    p12: 'For browsers and mail programs: PKCS#12',
    p12Hint: 'Key and certificate in one file, locked with a passphrase.',
    passphrase: 'Passphrase',
    passphraseHint:
      'At least {{length}} characters: letters without accents, digits, signs. You need it once, to import the file.',
    downloadP12: 'Download PKCS#12',
    pem: 'For programs: PEM',
    pemHint:
      'Key and certificate as text. The key is not locked: whoever reads the file is you.',
    downloadPem: 'Download key and certificate',
    alone: 'The certificate alone',
    aloneHint: 'Nothing in it is secret.',
    downloadAlone: 'Download certificate',
    how: 'How to use it',
    firefox: 'Firefox',
    firefoxHow:
      'Settings → Privacy & Security → View Certificates → Your Certificates → Import, then choose the PKCS#12 file.',
    chrome: 'Chrome and Chromium',
    chromeHow:
      'Settings → Privacy and security → Security → Manage certificates → Your certificates → Import, then choose the PKCS#12 file. On Windows and macOS, open the file itself.',
    convert: 'For browsers, first',
    convertHow: 'Put your key and the certificate into one PKCS#12 file:',
    curl: 'curl',
    git: 'git',
    ssh: 'ssh',
    sshHow:
      'Where servers know people by the keys of their certificates (SSSD):',
    reminder: 'Remind me before it ends (.ics)',
  },
  leave: {
    title: 'Leave without the key?',
    description:
      'The key of this certificate has not been saved. It is in this page only, and gone when you leave.',
    stay: 'Stay here',
    leave: 'Forget the key and leave',
  },
} as const;
