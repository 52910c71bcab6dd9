import {
  Pkcs11Key,
  type Pkcs11KeyPlace,
  generatePkcs11Key,
} from '../keys/Pkcs11Key';
import type { KeyType } from '../keys/KeyFile';

/** A request to generate or use a key in a token. */
export type TokenCall =
  | {
      readonly kind: 'generate';
      readonly place: Pkcs11KeyPlace;
      readonly type: KeyType;
    }
  | {
      readonly kind: 'sign';
      readonly place: Pkcs11KeyPlace;
      readonly spki: Buffer;
      readonly data: Buffer;
      readonly hash: 'sha256' | 'sha384' | 'sha512';
    };

/** The result of the request with the same id. */
export interface TokenResult {
  readonly id: number;
  readonly value?: Buffer;
  readonly error?: string;
}

const keys = new Map<string, Pkcs11Key>();

async function execute(call: TokenCall): Promise<Buffer> {
  if (call.kind === 'generate') {
    const { spki } = await generatePkcs11Key(call.place, { type: call.type });
    return spki;
  }
  const name = JSON.stringify(call.place);
  const key =
    keys.get(name) ?? new Pkcs11Key({ ...call.place, spki: call.spki });
  keys.set(name, key);
  return await key.sign(call.data, call.hash);
}

process.on('message', async ({ id, call }: { id: number; call: TokenCall }) => {
  const result = await execute(call).then(
    value => ({ id, value }),
    error => ({ id, error: String(error) }),
  );
  process.send?.(result);
});
