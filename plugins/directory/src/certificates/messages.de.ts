export const certificatesGerman = {
  'certificate.title': 'Zertifikat {{serial}}',
  'certificate.named': '{{label}} · {{purpose}}',
  'certificate.about': 'Über dieses Zertifikat',
  'certificate.purpose': 'Zweck',
  'certificate.anyPurpose': 'Beliebiger Zweck',
  'certificate.otherPurpose': 'Anderer Zweck ({{name}})',
  'certificate.use.clientAuth': 'Anmeldung an Servern und Websites',
  'certificate.use.emailProtection': 'Signierte oder verschlüsselte E-Mails',
  'certificate.use.codeSigning': 'Signieren von Code',
  'certificate.use.serverAuth': 'Betrieb eines Servers',
  'certificate.use.smartcardLogon': 'Anmeldung an Windows',
  'certificate.use.pkinitClientAuth': 'Abruf von Kerberos-Tickets',
  'certificate.use.timeStamping': 'Zeitstempel',
  'certificate.use.OCSPSigning': 'Auskünfte über Zertifikate (OCSP)',
  'certificate.use.anyExtendedKeyUsage': 'Beliebiger Zweck',
  'certificate.label.name': 'Bezeichnung',
  'certificate.label.set': 'Bezeichnung eingeben',
  'certificate.label.change': 'Bezeichnung ändern',
  'certificate.label.title': 'Bezeichnung des Zertifikats',
  'certificate.label.hint':
    'Zum Beispiel das Gerät, das es verwendet. Höchstens {{length}} Zeichen. Leer lassen, um die Bezeichnung zu entfernen.',
  'certificate.label.cancel': 'Abbrechen',
  'certificate.label.save': 'Bezeichnung speichern',
  'certificate.subject': 'Inhaber',
  'certificate.issuer': 'Aussteller',
  'certificate.owner': 'Besitzer',
  'certificate.serial': 'Seriennummer',
  'certificate.copySerial': 'Seriennummer {{serial}} kopieren',
  'certificate.hexadecimal': 'Hexadezimal',
  'certificate.expires': 'Ablauf',
  'certificate.expiresIn': 'Läuft {{left}} ab · {{date}}',
  'certificate.expiredAgo': 'Abgelaufen {{left}} · {{date}}',
  'certificate.from': 'Gültig ab',
  'certificate.range': 'Von {{from}} bis {{to}}',
  'certificate.key': 'Schlüssel',
  'certificate.state.title': 'Status',
  'certificate.state.valid': 'Gültig',
  'certificate.state.expiring': 'Läuft bald ab',
  'certificate.state.expired': 'Abgelaufen',
  'certificate.state.revoked': 'Widerrufen',
  'certificate.state.hold': 'Ausgesetzt',
  'certificate.state.holdHint':
    'Server, die die CRL prüfen, lehnen dieses Zertifikat ab. Die Zertifikate eines gesperrten Kontos sind ausgesetzt, bis das Konto entsperrt wird. Wenn das Konto nicht gesperrt ist, wenden Sie sich an die Administration.',
  'certificate.state.notYet': 'Noch nicht gültig',
  'certificate.state.foreign': 'Extern',
  'certificate.state.foreignHint':
    'Nicht von einer CA dieses Portals ausgestellt. Der Besitzer kann es hinzugefügt haben.',
  'certificate.state.unchecked': 'Nicht geprüft',
  'certificate.state.uncheckedHint':
    'Die CA ist nicht verfügbar, daher konnte der Status nicht geprüft werden. Versuchen Sie es später erneut.',
  'certificate.names': 'Alternative Namen',
  'certificate.noNames': 'Keine alternativen Namen.',
  'certificate.name.email': 'E-Mail-Adressen',
  'certificate.name.userPrincipal': 'User Principal Names',
  'certificate.name.kerberosPrincipal': 'Kerberos-Principals',
  'certificate.name.host': 'Hostnamen',
  'certificate.name.ipAddress': 'IP-Adressen',
  'certificate.name.uri': 'URIs',
  'certificate.name.directoryName': 'Verzeichnisnamen',
  'certificate.name.registeredId': 'Registrierte Kennungen',
  'certificate.name.unusual': 'Andere Namen',
  'certificate.chain': 'Vertrauenskette',
  'certificate.chainHint': 'Jedes Zertifikat ist mit dem nächsten signiert.',
  'certificate.noChain':
    'Die CA liefert die Kette dieses Zertifikats nicht. Aussteller: {{issuer}}.',
  'certificate.this': 'Dieses Zertifikat',
  'certificate.root': 'Stammzertifikat, selbstsigniert',
  'certificate.until': 'bis',
  'certificate.usage': 'Verwendung',
  'certificate.keyUsage': 'Schlüsselverwendung',
  'certificate.keyUsages.digitalSignature': 'Digitale Signatur',
  'certificate.keyUsages.nonRepudiation': 'Nichtabstreitbarkeit',
  'certificate.keyUsages.keyEncipherment': 'Verschlüsselung von Schlüsseln',
  'certificate.keyUsages.dataEncipherment': 'Verschlüsselung von Daten',
  'certificate.keyUsages.keyAgreement': 'Schlüsselaustausch',
  'certificate.keyUsages.keyCertSign': 'Signieren von Zertifikaten',
  'certificate.keyUsages.cRLSign': 'Signieren von Sperrlisten',
  'certificate.keyUsages.encipherOnly':
    'Schlüsselaustausch nur zum Verschlüsseln',
  'certificate.keyUsages.decipherOnly':
    'Schlüsselaustausch nur zum Entschlüsseln',
  'certificate.anyUsage': 'Nicht eingeschränkt',
  'certificate.fingerprints': 'Fingerabdrücke',
  'certificate.copyFingerprint': '{{kind}}-Fingerabdruck kopieren',
  'certificate.revoked': 'Dieses Zertifikat ist widerrufen',
  'certificate.revokedHint':
    'Server, die die CRL prüfen, lehnen dieses Zertifikat ab.',
  'certificate.revokedOn': 'Widerrufen am {{date}}. Grund: {{reason}}.',
  'certificate.revokedWhy': 'Grund: {{reason}}.',
  'certificate.onHold': 'Dieses Zertifikat ist ausgesetzt',
  'certificate.noHold':
    'Wenn Ihr Konto gesperrt wird, bleibt dieses Zertifikat gültig, bis es widerrufen wird oder abläuft.',
  'certificate.noRevocation':
    'Dieses Zertifikat kann nicht widerrufen werden. Es bleibt gültig, bis es abläuft.',
  'certificate.reason.unspecified': 'nicht angegeben',
  'certificate.reason.keyCompromise': 'der Schlüssel wurde kompromittiert',
  'certificate.reason.caCompromise': 'die CA wurde kompromittiert',
  'certificate.reason.affiliationChanged': 'Zugehörigkeit geändert',
  'certificate.reason.superseded': 'durch ein anderes Zertifikat ersetzt',
  'certificate.reason.cessationOfOperation': 'nicht mehr in Gebrauch',
  'certificate.reason.certificateHold': 'ausgesetzt',
  'certificate.reason.removeFromCrl': 'aus der CRL entfernt',
  'certificate.reason.privilegeWithdrawn': 'Berechtigung entzogen',
  'certificate.reason.aaCompromise': 'die Attributstelle wurde kompromittiert',
  'certificate.renew': 'Erneuern',
  'certificate.download': 'Herunterladen',
  'certificate.commandLine.title': 'Auf der Kommandozeile erneuern',
  'certificate.commandLine.curl': 'curl',
  'certificate.commandLine.curlHint':
    'Erneuert einmal, mit einem Kerberos-Ticket und einem neuen Schlüssel. Für Rechner kann die Administration die Erneuerung mit einem technischen Konto einrichten.',
  'certificate.notFound.title': 'Zertifikat {{serial}} nicht gefunden',
  'certificate.notFound.description':
    'Keine CA dieses Portals hat es ausgestellt.',
  'certificate.notSerial.title': '„{{text}}“ ist keine Seriennummer',
  'certificate.notSerial.description':
    'Seriennummern sind dezimal oder hexadezimal, zum Beispiel 0x1A2B.',
  'certificate.revoke.button': 'Zertifikat widerrufen',
  'certificate.revoke.title': 'Dieses Zertifikat widerrufen?',
  'certificate.revoke.description':
    'Dies kann nicht rückgängig gemacht werden. Server, die die CRL prüfen, lehnen das Zertifikat ab.',
  'certificate.revoke.why': 'Grund',
  'certificate.revoke.reason.superseded':
    'Ein anderes Zertifikat hat es ersetzt',
  'certificate.revoke.reason.cessationOfOperation':
    'Es wird nicht mehr gebraucht',
  'certificate.revoke.reason.keyCompromise':
    'Das Gerät oder der Schlüssel wurde verloren, gestohlen oder offengelegt',
  'certificate.revoke.reason.affiliationChanged':
    'Name oder Zugehörigkeit des Besitzers hat sich geändert',
  'certificate.revoke.reason.privilegeWithdrawn':
    'Der Besitzer darf es nicht mehr haben',
  'certificate.revoke.reason.unspecified': 'Ein anderer Grund',
  'certificate.revoke.cancel': 'Abbrechen',
  'certificate.revoke.confirm': 'Zertifikat widerrufen',
  'certificate.revoke.working': 'Wird widerrufen…',
  'certificate.revoke.signInAgain':
    'Melden Sie sich wieder an, um Ihr Zertifikat zu widerrufen. Holen Sie dafür bei Kerberos zuerst ein neues Ticket.',
  'certificates.mine': 'Meine Zertifikate',
  'certificates.request': 'Zertifikat anfordern',
  'certificates.today': 'Heute',
  'certificates.actionsOf': 'Aktionen für {{name}} ({{serial}})',
  'certificates.details': 'Details',
  'certificates.pem': 'Zertifikat herunterladen',
  'certificates.chainPem': 'Kette herunterladen',
  'certificates.noneOfUser': 'Keine Zertifikate',
  'certificates.none.title': 'Sie haben keine Zertifikate',
  'certificates.none.description':
    'Ein Zertifikat weist Servern und Anwendungen Ihre Identität nach. Der private Schlüssel wird in diesem Browser erzeugt und nie gesendet.',
  'certificates.open.label': 'Zertifikat anhand der Seriennummer öffnen',
  'certificates.open.hint': 'Dezimal oder hexadezimal',
  'certificates.open.invalid':
    'Geben Sie eine Seriennummer ein: Ziffern, oder hexadezimal wie 0x1A2B oder 1A:2B',
  'certificates.open.button': 'Zertifikat öffnen',
  'certificates.noAuthority.title':
    'Dieses Portal stellt keine Zertifikate aus',
  'certificates.noAuthority.description':
    'Es ist keine Zertifizierungsstelle (CA) konfiguriert. Wenden Sie sich an die Administration.',
  'certificates.notMapped.title':
    'Ihr Konto ist nicht mit einem Benutzer des Verzeichnisses verknüpft',
  'certificates.notMapped.description':
    'Nur Benutzer des Verzeichnisses haben Zertifikate.',
  'request.title': 'Zertifikat anfordern',
  'request.renewing':
    'Erneuerung von „{{name}}“. Das alte Zertifikat bleibt gültig, bis es widerrufen wird oder abläuft.',
  'request.back': 'Zurück',
  'request.next': 'Weiter',
  'request.notAllowed.title': 'Sie dürfen keine Zertifikate anfordern',
  'request.notAllowed.description': 'Wenden Sie sich an die Administration.',
  'request.steps': 'Schritte',
  'request.step.profile': 'Profil',
  'request.step.key': 'Schlüssel',
  'request.step.check': 'Prüfen',
  'request.step.done': 'Fertig',
  'request.profile.title': 'Zweck auswählen',
  'request.profile.lifetime': '{{lifetime}} gültig',
  'request.profile.name': 'Profil {{name}}',
  'request.profile.none.title': 'Für Sie ist kein Zertifikatsprofil verfügbar',
  'request.profile.none.description':
    'Die Zertifikatsprofile dieses Portals stehen nur Mitgliedern bestimmter Gruppen zur Verfügung.',
  'request.key.title': 'Schlüssel auswählen',
  'request.key.generate': 'Schlüssel erzeugen',
  'request.key.generateHint':
    'Der private Schlüssel wird in diesem Browser erzeugt und nie gesendet. Nur der CSR für {{username}} wird gesendet.',
  'request.key.type': 'Schlüsseltyp',
  'request.key.p256': 'P-256 (empfohlen)',
  'request.key.rsa3072': 'RSA 3072, für ältere Software',
  'request.key.own': 'Eigenen CSR verwenden',
  'request.key.ownHint':
    'Mit OpenSSL, certtool oder einem Hardware-Token erstellt.',
  'request.key.csr': 'Zertifikatsanforderung (CSR, PEM)',
  'request.key.csrHint': 'Einfügen oder die Datei hier ablegen',
  'request.key.invalid':
    'Keine Zertifikatsanforderung im PEM-Format (-----BEGIN CERTIFICATE REQUEST-----).',
  'request.key.unread':
    'Der CSR konnte nicht geprüft werden. Laden Sie die Seite neu.',
  'request.key.tooLarge':
    'Die Datei ist größer als 64 KiB. Wählen Sie die Datei mit dem CSR.',
  'request.key.failed':
    'Der Schlüssel konnte nicht erzeugt werden. Versuchen Sie es erneut, oder laden Sie die Seite neu.',
  'request.key.privateKey':
    'Dies enthält einen privaten Schlüssel. Fügen Sie nur den CSR ein.',
  'request.key.proof': 'Besitznachweis',
  'request.key.proven': 'Gültig',
  'request.key.unproven':
    'Ungültig, oder ein Schlüsseltyp, den dieser Browser nicht prüfen kann',
  'request.key.generating': 'Schlüssel wird erzeugt…',
  'request.key.insecure':
    'Schlüssel können nur über HTTPS erzeugt werden. Verwenden Sie stattdessen einen eigenen CSR.',
  'request.check.title': 'Anforderung prüfen',
  'request.check.checking': 'Wird geprüft…',
  'request.check.passed': 'Bestanden',
  'request.check.failed': 'Nicht bestanden',
  'request.check.open': 'Nicht geprüft',
  'request.check.labelHint':
    'Zum Beispiel das Gerät, das es verwendet. Höchstens {{length}} Zeichen. Freiwillig.',
  'request.check.request': 'Zertifikat anfordern',
  'request.check.requesting': 'Wird angefordert…',
  'request.check.allPassed': 'Alle Prüfungen bestanden',
  'request.check.someFailed':
    'Einige Prüfungen wurden nicht bestanden, daher wird kein Zertifikat ausgestellt. Gehen Sie zurück, um die Anforderung zu ändern.',
  'request.rule.principal': 'Das Konto ist aktiv',
  'request.rule.requester': 'Sie dürfen es anfordern',
  'request.rule.profile': 'Das Profil ist für Sie verfügbar',
  'request.rule.request':
    'Der CSR ist gültig und weist den Besitz des Schlüssels nach',
  'request.rule.key': 'Der Schlüssel ist nicht als kompromittiert bekannt',
  'request.rule.common_name': 'Der CN ist der Benutzername',
  'request.rule.email_address':
    'Die E-Mail-Adressen im Inhabernamen sind die des Benutzers',
  'request.rule.rfc822_name':
    'Die E-Mail-Adressen in den alternativen Namen sind die des Benutzers',
  'request.rule.principal_name':
    'Die Principals in den alternativen Namen sind die des Benutzers',
  'request.rule.other_name': 'Der CSR hat keine alternativen Namen anderer Art',
  'request.failure.principal':
    'Das Konto gibt es nicht, es ist gesperrt oder abgelaufen',
  'request.failure.requester': 'Sie dürfen es nicht anfordern',
  'request.failure.profile': 'Das Profil ist für Sie nicht verfügbar',
  'request.failure.request':
    'Der CSR ist ungültig oder weist den Besitz des Schlüssels nicht nach',
  'request.failure.key': 'Die CA nimmt diesen Schlüssel nicht an',
  'request.failure.common_name':
    'Der Inhabername muss genau einen CN haben: den Benutzernamen',
  'request.failure.email_address':
    'Der Inhabername hat eine E-Mail-Adresse, die nicht die des Benutzers ist',
  'request.failure.rfc822_name':
    'Die alternativen Namen haben eine E-Mail-Adresse, die nicht die des Benutzers ist',
  'request.failure.principal_name':
    'Die alternativen Namen haben einen Principal, der nicht der des Benutzers ist',
  'request.failure.other_name':
    'Der CSR hat alternative Namen, die weder E-Mail-Adressen noch Principals sind',
  'request.done.title': 'Zertifikat ausgestellt',
  'request.done.details': 'Details des Zertifikats',
  'request.done.saved':
    'Der private Schlüssel wurde heruntergeladen. Von dieser Seite wird er beim Verlassen entfernt.',
  'request.done.p12': 'PKCS#12, für Browser und E-Mail-Programme',
  'request.done.p12Hint':
    'Schlüssel und Zertifikat in einer Datei, mit einer Passphrase verschlüsselt.',
  'request.done.passphrase': 'Passphrase',
  'request.done.passphraseHint':
    'Mindestens {{length}} ASCII-Buchstaben, -Ziffern oder -Symbole. Sie brauchen sie einmal, um die Datei zu importieren.',
  'request.done.passphraseShort_one': 'Es fehlt noch ein Zeichen.',
  'request.done.passphraseShort_other': 'Es fehlen noch {{count}} Zeichen.',
  'request.done.passphraseAscii':
    'Nur ASCII-Buchstaben, Ziffern, Symbole und Leerzeichen funktionieren in allen Programmen. Entfernen Sie andere Zeichen, zum Beispiel ä.',
  'request.done.saveFailed':
    'Die Datei konnte nicht erstellt werden. Versuchen Sie es erneut, oder wählen Sie das andere Format.',
  'request.done.downloadP12': 'PKCS#12 herunterladen',
  'request.done.pem': 'PEM, für die Kommandozeile',
  'request.done.pemHint':
    'Schlüssel und Zertifikat als Text. Der private Schlüssel ist nicht verschlüsselt: Wer die Datei lesen kann, kann den Schlüssel verwenden.',
  'request.done.downloadPem': 'Schlüssel und Zertifikat herunterladen',
  'request.done.certificateOnly': 'Nur das Zertifikat',
  'request.done.certificateOnlyHint': 'Enthält den privaten Schlüssel nicht.',
  'request.done.downloadCertificate': 'Zertifikat herunterladen',
  'request.done.usage': 'Verwendung',
  'request.done.firefox': 'Firefox',
  'request.done.firefoxHint':
    'Einstellungen → Datenschutz & Sicherheit → Zertifikate anzeigen → Ihre Zertifikate → Importieren, dann die PKCS#12-Datei auswählen.',
  'request.done.chrome': 'Chrome und Chromium',
  'request.done.chromeHint':
    'Einstellungen → Datenschutz und Sicherheit → Sicherheit → Zertifikate verwalten → Meine Zertifikate → Importieren, dann die PKCS#12-Datei auswählen. Unter Windows und macOS die PKCS#12-Datei direkt öffnen.',
  'request.done.convert': 'Datei für Browser erstellen',
  'request.done.convertHint':
    'Fassen Sie Ihren Schlüssel und das Zertifikat in einer PKCS#12-Datei zusammen:',
  'request.done.curl': 'curl',
  'request.done.curlHint':
    'Geben Sie Zertifikat und Schlüssel bei jeder Anfrage an:',
  'request.done.git': 'git',
  'request.done.gitHint':
    'Tragen Sie das Zertifikat in die Git-Konfiguration des Repositorys ein:',
  'request.done.old': 'Altes Zertifikat',
  'request.done.oldHint':
    'Installieren Sie zuerst das neue Zertifikat, und widerrufen Sie dann das alte.',
  'request.done.ssh': 'ssh',
  'request.done.sshHint':
    'Für Server, die Benutzer per Zertifikat authentifizieren (SSSD):',
  'request.unsaved.label': 'Nicht gespeicherte private Schlüssel',
  'request.unsaved.status_one': 'Ein privater Schlüssel ist nicht gespeichert.',
  'request.unsaved.status_other':
    '{{count}} private Schlüssel sind nicht gespeichert.',
  'request.unsaved.issued':
    'Der private Schlüssel von „{{name}}“ ist nicht gespeichert.',
  'request.unsaved.issuedHint':
    'Seriennummer {{serial}}. Der Schlüssel geht verloren, wenn Sie diesen Tab schließen oder neu laden oder sich abmelden.',
  'request.unsaved.unknown':
    'Ein privater Schlüssel ist nicht gespeichert. Möglicherweise wurde dafür ein Zertifikat ausgestellt.',
  'request.unsaved.unknownHint':
    'Es ist nicht bekannt, ob die Anforderung erfolgreich war. Laden Sie den Schlüssel herunter, sehen Sie in Ihren Zertifikaten nach und verwerfen Sie dann den Schlüssel hier.',
  'request.unsaved.save': 'Speichern',
  'request.unsaved.download': 'Herunterladen',
  'request.unsaved.discard': 'Verwerfen',
  'request.unsaved.discardTitle': 'Privaten Schlüssel verwerfen?',
  'request.unsaved.discardHint':
    'Ein Zertifikat ist ohne seinen privaten Schlüssel unbrauchbar. Es bleibt gültig, bis es widerrufen wird oder abläuft.',
  'request.unsaved.keep': 'Behalten',
};
