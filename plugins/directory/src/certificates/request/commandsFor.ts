/** What a reader has to use a certificate with. */
export type Holding =
  /** A file of key and certificate, or a PKCS#12, from this page. */
  | { readonly key: 'made'; readonly username: string }
  /** A key of their own, and the certificate's file. */
  | { readonly key: 'own'; readonly username: string; readonly file: string };

/** Programs that a command sets up. */
export type Program = 'curl' | 'git' | 'ssh';

/** Where somebody keeps a key that this page has never seen. */
const OWN_KEY = 'your.key';

/** What to type, a line for each command; nothing where it does not apply. */
export function commandsFor(program: Program, holding: Holding): string[] {
  const isOwn = holding.key === 'own';
  const certificate = isOwn ? holding.file : `${holding.username}.pem`;
  switch (program) {
    case 'curl':
      return [
        `curl --cert ${certificate}${
          isOwn ? ` --key ${OWN_KEY}` : ''
        } https://…`,
      ];
    case 'git':
      return [
        `git config http.sslCert "$PWD/${certificate}"`,
        ...(isOwn ? [`git config http.sslKey "$PWD/${OWN_KEY}"`] : []),
      ];
    default:
      return isOwn
        ? [`ssh-add ${OWN_KEY}`]
        : [`chmod 600 ${certificate}`, `ssh-add ${certificate}`];
  }
}

/** Puts a key of one's own and its certificate into a file for browsers. */
export function pkcs12Command(holding: Holding & { key: 'own' }): string {
  const { username, file } = holding;
  return `openssl pkcs12 -export -inkey ${OWN_KEY} -in ${file} -out ${username}.p12`;
}
