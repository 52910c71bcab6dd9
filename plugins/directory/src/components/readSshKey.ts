/** An OpenSSH public key as in an authorized_keys line. */
export interface SshKey {
  /** `ssh-ed25519`, `ecdsa-sha2-nistp256`, … */
  type: string;

  /** Size of the modulus or the curve in bits; `undefined` for unknown types. */
  bits: number | undefined;

  /** Comment, usually the owner of the key; empty without one. */
  comment: string;

  /** The encoded key (RFC 4253 §6.6). */
  blob: Uint8Array<ArrayBuffer>;

  /** Type, key and comment, without options. */
  line: string;
}

const CURVES: Record<string, number> = {
  'ssh-ed25519': 256,
  'sk-ssh-ed25519@openssh.com': 256,
  'ssh-ed448': 448,
  'ecdsa-sha2-nistp256': 256,
  'ecdsa-sha2-nistp384': 384,
  'ecdsa-sha2-nistp521': 521,
  'sk-ecdsa-sha2-nistp256@openssh.com': 256,
};

/**
 * Parses a key as stored in the directory, ignoring options before it. Returns
 * `undefined` for text that is not a key.
 */
export function readSshKey(text: string): SshKey | undefined {
  const [, type, base64, rest = ''] =
    text.match(
      /(?:^|\s)((?:ssh|ecdsa|sk)-[\w@.-]+)[ \t]+([A-Za-z0-9+/]+={0,2})(?:[ \t]+([^\r\n]*))?/,
    ) ?? [];
  const blob = base64 ? decode(base64) : undefined;
  if (!blob) {
    return undefined;
  }
  const parts = readParts(blob);
  if (new TextDecoder().decode(parts[0]) !== type) {
    return undefined; // the type in the line differs from the type in the key
  }
  const comment = rest.trim();
  return {
    type,
    bits: CURVES[type] ?? modulusBits(type, parts),
    comment,
    blob,
    line: [type, base64, comment].filter(Boolean).join(' '),
  };
}

/**
 * Computes the fingerprint of a key as printed by OpenSSH: `SHA256:` and base64
 * without padding. Returns `null` when Web Crypto is not available, as on pages
 * without HTTPS.
 */
export async function sshFingerprint(
  blob: Uint8Array<ArrayBuffer>,
): Promise<string | null> {
  const digest = await globalThis.crypto?.subtle?.digest('SHA-256', blob);
  return digest
    ? `SHA256:${btoa(String.fromCharCode(...new Uint8Array(digest))).replace(
        /=+$/,
        '',
      )}`
    : null;
}

/** Returns the fingerprint in a text, as OpenSSH prints it. */
export function readFingerprint(text: string): string | undefined {
  return /(?:^|\s)(SHA256:[A-Za-z0-9+/]{43})=?(?:\s|$)/.exec(text)?.[1];
}

/**
 * Size of the RSA modulus (third part) or the DSA prime (second part), in bits.
 */
function modulusBits(
  type: string,
  parts: readonly Uint8Array[],
): number | undefined {
  const modulus = { 'ssh-rsa': parts[2], 'ssh-dss': parts[1] }[type];
  const first = modulus?.findIndex(byte => byte !== 0) ?? -1;
  if (!modulus || first < 0) {
    return undefined;
  }
  const leading = 32 - Math.clz32(modulus[first]);
  return (modulus.length - first - 1) * 8 + leading;
}

function decode(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), character => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/**
 * Splits a key into its strings, each preceded by a four-byte length (RFC 4251
 * §5).
 */
function readParts(blob: Uint8Array<ArrayBuffer>): Uint8Array[] {
  const view = new DataView(blob.buffer);
  const parts: Uint8Array[] = [];
  let offset = 0;
  while (offset + 4 <= blob.length) {
    const end = offset + 4 + view.getUint32(offset);
    parts.push(blob.subarray(offset + 4, end));
    offset = end;
  }
  return parts;
}
