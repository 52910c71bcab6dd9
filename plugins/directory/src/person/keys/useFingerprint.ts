import { useEffect, useState } from 'react';

/**
 * The fingerprint of a key as OpenSSH writes it, `SHA256:` and base64 without
 * padding: `undefined` while it is computed, `null` where the browser has no
 * cryptography, which is on pages without https.
 */
export function useFingerprint(
  blob: Uint8Array<ArrayBuffer>,
): string | null | undefined {
  const [fingerprint, setFingerprint] = useState<string | null>();

  useEffect(() => {
    let isCurrent = true;
    async function compute() {
      const digest = await globalThis.crypto?.subtle?.digest('SHA-256', blob);
      if (isCurrent) {
        setFingerprint(digest ? format(digest) : null);
      }
    }
    compute();
    return () => {
      isCurrent = false;
    };
  }, [blob]);

  return fingerprint;
}

function format(digest: ArrayBuffer): string {
  const base64 = btoa(String.fromCharCode(...new Uint8Array(digest)));
  return `SHA256:${base64.replace(/=+$/, '')}`;
}
