/** RFC 5280 §4.2.1.12, RFC 4556, and what FreeIPA's profiles use. */
const names: Readonly<Record<string, string>> = {
  '1.3.6.1.5.5.7.3.1': 'serverAuth',
  '1.3.6.1.5.5.7.3.2': 'clientAuth',
  '1.3.6.1.5.5.7.3.3': 'codeSigning',
  '1.3.6.1.5.5.7.3.4': 'emailProtection',
  '1.3.6.1.5.5.7.3.8': 'timeStamping',
  '1.3.6.1.5.5.7.3.9': 'OCSPSigning',
  '1.3.6.1.5.2.3.4': 'pkinitClientAuth',
  '1.3.6.1.4.1.311.20.2.2': 'smartcardLogon',
  '2.5.29.37.0': 'anyExtendedKeyUsage',
};

/** The common name of an extended key usage; its OID when it has none. */
export function nameUsage(oid: string): string {
  return names[oid] ?? oid;
}
