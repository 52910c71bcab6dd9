import * as forge from 'node-forge';

declare module 'node-forge' {
  namespace asn1 {
    /** The form with options, which the published types leave out. */
    function fromDer(
      bytes: string,
      options: {
        strict: boolean;
        parseAllBytes: boolean;
        decodeBitStrings: boolean;
      },
    ): Asn1;
  }
}

/**
 * Parses with node-forge, which is all that its reading side is used for: it takes much that is not
 * DER, and it recurses, so its caller bounds the bytes before and compares them afterwards.
 *
 * @throws Error of forge's own
 */
export function parseWithForge(bytes: Uint8Array): forge.asn1.Asn1 {
  // Forge keeps octets as the characters U+0000 to U+00FF of a string.
  return forge.asn1.fromDer(Buffer.from(bytes).toString('latin1'), {
    strict: true,
    parseAllBytes: true,
    decodeBitStrings: false,
  });
}
