/** Object identifiers of mechanisms, in DER. */
export const MECHANISM_OIDS = {
  krb5: Buffer.from('06092a864886f712010202', 'hex'),
  ntlm: Buffer.from('060a2b06010401823702020a', 'hex'),
  negoex: Buffer.from('060a2b06010401823702021e', 'hex'),
} as const;

const SPNEGO_OID = Buffer.from('06062b0601050502', 'hex');

/**
 * Writes the first token of a SPNEGO negotiation (RFC 4178 §4.2.1) in a mechanism's framing
 * (RFC 2743 §3.1).
 *
 * @param options - `token` is for the first of the mechanisms
 */
export function negTokenInit(options: {
  mechanisms: readonly (keyof typeof MECHANISM_OIDS)[];
  token?: Buffer;
}): Buffer {
  const oids = options.mechanisms.map(name => MECHANISM_OIDS[name]);
  const mechTypes = der(0xa0, der(0x30, ...oids));
  const mechToken = options.token ? [der(0xa2, der(0x04, options.token))] : [];
  return der(0x60, SPNEGO_OID, der(0xa0, der(0x30, mechTypes, ...mechToken)));
}

function der(tag: number, ...content: Buffer[]): Buffer {
  const value = Buffer.concat(content);
  const length = value.length;
  if (length < 128) {
    return Buffer.concat([Buffer.from([tag, length]), value]);
  }
  const head = Buffer.from([tag, 0x83, 0, 0, 0]);
  head.writeUIntBE(length, 2, 3);
  return Buffer.concat([head, value]);
}
