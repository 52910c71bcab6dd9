/** The body with which a program asks for a certificate (contract, 4.4). */
export function signingForm(options: {
  readonly username: string;
  readonly csr: string;
}): string {
  const { username, csr } = options;
  return String(new URLSearchParams({ user: username, csr }));
}
