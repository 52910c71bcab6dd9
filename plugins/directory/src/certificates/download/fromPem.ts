/** The bytes of the first PEM block of a text, or of bare base64. */
export function fromPem(text: string): Uint8Array<ArrayBuffer> {
  const block = /-----BEGIN [^-]+-----([^-]*)-----END/.exec(text);
  const binary = atob((block?.[1] ?? text).replace(/\s+/g, ''));
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) {
    bytes[index] = binary.charCodeAt(index);
  }
  return bytes;
}
