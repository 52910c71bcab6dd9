import type { X509Certificate } from 'node:crypto';

/**
 * A certificate and those above it, each signed by the next. FreeIPA takes its
 * chain out of a PKCS #7 structure, in which certificates are a set (RFC 2315
 * §9.1) and come in whatever order Dogtag put them.
 *
 * @param leaf - the certificate that comes first.
 * @param others - those above it, in any order, the leaf perhaps among them;
 * what does not belong to the chain is left out.
 */
export function orderChain(
  leaf: X509Certificate,
  others: readonly X509Certificate[],
): readonly X509Certificate[] {
  const chain = [leaf];
  const rest = new Map(others.map(other => [other.fingerprint256, other]));
  rest.delete(leaf.fingerprint256);
  for (;;) {
    const top = chain.at(-1)!;
    const above = [...rest.values()].find(candidate =>
      top.checkIssued(candidate),
    );
    if (!above) {
      return chain;
    }
    chain.push(above);
    rest.delete(above.fingerprint256);
  }
}
