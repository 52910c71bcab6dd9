import { createHash, createPublicKey, randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { assertError, isError } from '@backstage/errors';
import {
  type SignatureHash,
  type SigningKey,
  encodeEcdsaSignature,
} from '@directory-gateway/x509';
import type { Handle, PKCS11 } from 'pkcs11js';
import { SignerUnavailableError } from '../CertificateSigner';
import { type KeyType, readPassphrase } from './KeyFile';

/** Location of a key in a PKCS#11 token. */
export interface Pkcs11KeyPlace {
  /** Absolute path of the token's PKCS#11 module, a shared library. */
  readonly module: string;
  /** Label of the token. */
  readonly token: string;
  /** Label of the private key (`CKA_LABEL`), unique in the token. */
  readonly key: string;
  /** Absolute path of the file with the PIN of the token's user, mode 0600. */
  readonly pinFile: string;
}

/** Maximum length of a signature in octets, that of an 8192-bit RSA key. */
const MAX_SIGNATURE_LENGTH = 1024;

/** Time until a key that could not be opened is tried again. */
const RETRY_DELAY_MS = 1000;

/**
 * Data that a thread is signing: pkcs11js does not prevent its garbage
 * collection.
 */
const inUse = new Set<Buffer>();

type Constants = typeof import('pkcs11js');

/** An initialized module, and the constants of the package. */
interface Cryptoki {
  readonly library: PKCS11;
  readonly constants: Constants;
}

interface Session {
  readonly slot: Handle;
  readonly session: Handle;
}

/**
 * A PKCS#11 module. Its functions are called one at a time: most modules detect
 * that a token was removed or inserted only when they are initialized again,
 * which ends the sessions of all keys.
 */
class Pkcs11Module {
  static readonly #byPath = new Map<string, Pkcs11Module>();

  /** Increases when the module is initialized: earlier handles are invalid. */
  generation = 0;
  readonly #path: string;
  #calls: Promise<unknown> = Promise.resolve();
  #library: PKCS11 | undefined;
  /** PINs that tokens refused: a few more attempts would lock the token. */
  readonly #refusedPins = new Set<string>();

  /** All keys in this process share a module. */
  static of(path: string): Pkcs11Module {
    const module = this.#byPath.get(path) ?? new Pkcs11Module(path);
    this.#byPath.set(path, module);
    return module;
  }

  private constructor(path: string) {
    this.#path = path;
  }

  /**
   * Calls functions of the module exclusively.
   *
   * @throws SignerUnavailableError
   */
  async use<T>(
    { token }: Pkcs11KeyPlace,
    work: (cryptoki: Cryptoki) => Promise<T>,
  ): Promise<T> {
    const run = async () => {
      const constants = loadPackage();
      if (!this.#library) {
        const library = new constants.PKCS11(this.#path);
        this.initialize({ library, constants });
        this.#library = library;
      }
      return await work({ library: this.#library, constants });
    };
    const result = this.#calls.then(run, run);
    this.#calls = result;
    try {
      return await result;
    } catch (error) {
      throw error instanceof SignerUnavailableError
        ? error
        : new SignerUnavailableError(`PKCS#11 token "${token}" failed`, error);
    }
  }

  /** Ends all sessions and searches for tokens. */
  initialize({ library, constants }: Cryptoki): void {
    try {
      library.C_Finalize();
    } catch {
      // The module was not initialized.
    }
    // Signatures are made in other threads.
    library.C_Initialize({ flags: constants.CKF_OS_LOCKING_OK });
    this.generation += 1;
  }

  /**
   * Opens a session and logs in as the token's user.
   *
   * @param flags - flags of the session, in addition to the required one
   * @throws Error when the token is not inserted or refuses the PIN.
   */
  async logIn(
    { library, constants }: Cryptoki,
    place: Pkcs11KeyPlace,
    flags = 0,
  ): Promise<Session> {
    const { token, pinFile } = place;
    const slot = library
      .C_GetSlotList(true)
      // Labels are padded with spaces.
      .find(item => library.C_GetTokenInfo(item).label.trimEnd() === token);
    if (!slot) {
      throw new Error('the token is not inserted');
    }
    const pin = await readPassphrase(pinFile);
    const attempt = JSON.stringify([token, pin]);
    if (this.#refusedPins.has(attempt)) {
      throw new Error(
        `the PIN in ${pinFile} was refused and is not tried again`,
      );
    }
    const session = library.C_OpenSession(
      slot,
      constants.CKF_SERIAL_SESSION | flags,
    );
    try {
      library.C_Login(session, constants.CKU_USER, pin);
    } catch (error) {
      if (isCode(error, 'CKR_PIN_')) {
        this.#refusedPins.add(attempt);
      }
      if (!isCode(error, 'CKR_USER_ALREADY_LOGGED_IN')) {
        throw error;
      }
    }
    return { slot, session };
  }
}

interface OpenKey extends Session {
  readonly handle: Handle;
  /** Generation of the module in which they are valid. */
  readonly generation: number;
}

/** The key of a CA in a PKCS#11 token: EC or RSA. */
export class Pkcs11Key implements SigningKey {
  /** SubjectPublicKeyInfo, DER. */
  readonly spki: Buffer;
  readonly #place: Pkcs11KeyPlace;
  readonly #module: Pkcs11Module;
  readonly #isEc: boolean;
  #key: OpenKey | undefined;
  #failure: { readonly error: Error; readonly at: number } | undefined;

  /**
   * The token is opened when the key is first used, and again after an error.
   *
   * @param options - `spki`: SubjectPublicKeyInfo of the key, DER, as in the
   *   CA's certificate
   * @throws TypeError when the key is neither EC nor RSA.
   */
  constructor(options: Pkcs11KeyPlace & { readonly spki: Buffer }) {
    const { asymmetricKeyType } = createPublicKey({
      key: options.spki,
      format: 'der',
      type: 'spki',
    });
    if (asymmetricKeyType !== 'ec' && asymmetricKeyType !== 'rsa') {
      throw new TypeError('A key in a PKCS#11 token must be EC or RSA');
    }
    this.spki = options.spki;
    this.#isEc = asymmetricKeyType === 'ec';
    this.#place = options;
    this.#module = Pkcs11Module.of(options.module);
  }

  /**
   * Signs data; see `SigningKey`.
   *
   * @throws SignerUnavailableError when the token or the key is missing, or
   *   cannot sign.
   */
  async sign(
    data: Buffer,
    hash: SignatureHash | undefined = 'sha256',
  ): Promise<Buffer> {
    return await this.#module.use(this.#place, async cryptoki => {
      if (this.#key?.generation === this.#module.generation) {
        try {
          // SoftHSM keeps signing from memory after the token is removed.
          cryptoki.library.C_GetTokenInfo(this.#key.slot);
          return await this.#signWith(this.#key, { cryptoki, data, hash });
        } catch {
          // The token was removed, and perhaps inserted again.
          this.#module.initialize(cryptoki);
        }
      }
      const key = await this.#find(cryptoki);
      return await this.#signWith(key, { cryptoki, data, hash });
    });
  }

  async #signWith(
    { session, handle }: OpenKey,
    options: {
      readonly cryptoki: Cryptoki;
      readonly data: Buffer;
      readonly hash: SignatureHash;
    },
  ): Promise<Buffer> {
    const { library, constants } = options.cryptoki;
    const signWith = async (mechanism: number, data: Buffer) => {
      library.C_SignInit(session, { mechanism }, handle);
      const output = Buffer.alloc(MAX_SIGNATURE_LENGTH);
      inUse.add(data);
      try {
        return await library.C_SignAsync(session, data, output);
      } finally {
        inUse.delete(data);
      }
    };
    if (!this.#isEc) {
      return await signWith(constants.CKM_SHA256_RSA_PKCS, options.data);
    }
    const digest = createHash(options.hash).update(options.data).digest();
    return encodeEcdsaSignature(await signWith(constants.CKM_ECDSA, digest));
  }

  async #find(cryptoki: Cryptoki): Promise<OpenKey> {
    const now = performance.now();
    if (this.#failure && now - this.#failure.at < RETRY_DELAY_MS) {
      throw this.#failure.error;
    }
    try {
      this.#key = await this.#openKey(cryptoki);
      this.#failure = undefined;
      return this.#key;
    } catch (error) {
      assertError(error);
      this.#failure = { error, at: now };
      this.#key = undefined;
      // The next attempt may find a token that was inserted.
      this.#module.initialize(cryptoki);
      throw error;
    }
  }

  async #openKey(cryptoki: Cryptoki): Promise<OpenKey> {
    const { slot, session } = await this.#module.logIn(cryptoki, this.#place);
    const handles = findPrivateKeys(cryptoki, session, this.#place.key);
    if (handles.length !== 1) {
      throw new Error(
        `there are ${handles.length} private keys "${this.#place.key}"`,
      );
    }
    const [handle] = handles;
    return { slot, session, handle, generation: this.#module.generation };
  }
}

/**
 * OIDs of curves, DER (RFC 5480 §2.1.1.1), and sizes of a coordinate in octets.
 */
const CURVES = new Map<
  KeyType,
  { readonly oid: Buffer; readonly octets: number }
>([
  ['P-256', { oid: Buffer.from('06082a8648ce3d030107', 'hex'), octets: 32 }],
  ['P-384', { oid: Buffer.from('06052b81040022', 'hex'), octets: 48 }],
  ['P-521', { oid: Buffer.from('06052b81040023', 'hex'), octets: 66 }],
]);

const RSA_BITS = 3072;
const RSA_EXPONENT = Buffer.of(1, 0, 1);

/**
 * Generates a key that cannot be exported from its token.
 *
 * @param place - `key`: its label
 * @throws SignerUnavailableError when the token is not available, or already
 *   contains a key with this label.
 */
export async function generatePkcs11Key(
  place: Pkcs11KeyPlace,
  options: { readonly type: KeyType },
): Promise<Pkcs11Key> {
  const module = Pkcs11Module.of(place.module);
  const spki = await module.use(place, async cryptoki => {
    const { library, constants } = cryptoki;
    const { session } = await module.logIn(
      cryptoki,
      place,
      constants.CKF_RW_SESSION,
    );
    try {
      if (findPrivateKeys(cryptoki, session, place.key).length > 0) {
        throw new Error(`the private key "${place.key}" already exists`);
      }
      return generate(cryptoki, {
        session,
        label: place.key,
        type: options.type,
      });
    } finally {
      library.C_CloseSession(session);
    }
  });
  const { module: path, token, key, pinFile } = place;
  return new Pkcs11Key({ module: path, token, key, pinFile, spki });
}

/** @returns SubjectPublicKeyInfo of the new key, DER */
function generate(
  { library, constants }: Cryptoki,
  options: {
    readonly session: Handle;
    readonly label: string;
    readonly type: KeyType;
  },
): Buffer {
  const { session, type } = options;
  const curve = CURVES.get(type);
  const common = [
    { type: constants.CKA_TOKEN, value: true },
    { type: constants.CKA_LABEL, value: options.label },
    // Associates the private with the public key.
    { type: constants.CKA_ID, value: randomBytes(16) },
  ];
  const { publicKey } = library.C_GenerateKeyPair(
    session,
    {
      mechanism: curve
        ? constants.CKM_EC_KEY_PAIR_GEN
        : constants.CKM_RSA_PKCS_KEY_PAIR_GEN,
    },
    [
      ...common,
      { type: constants.CKA_VERIFY, value: true },
      ...(curve
        ? [{ type: constants.CKA_EC_PARAMS, value: curve.oid }]
        : [
            { type: constants.CKA_MODULUS_BITS, value: RSA_BITS },
            { type: constants.CKA_PUBLIC_EXPONENT, value: RSA_EXPONENT },
          ]),
    ],
    [
      ...common,
      { type: constants.CKA_PRIVATE, value: true },
      { type: constants.CKA_SENSITIVE, value: true },
      { type: constants.CKA_EXTRACTABLE, value: false },
      { type: constants.CKA_SIGN, value: true },
    ],
  );
  const [{ value }] = library.C_GetAttributeValue(session, publicKey, [
    { type: curve ? constants.CKA_EC_POINT : constants.CKA_MODULUS },
  ]);
  const base64 = (start?: number, end?: number) =>
    value.subarray(start, end).toString('base64url');
  const key = curve
    ? {
        kty: 'EC',
        crv: type,
        // An OCTET STRING that ends with both coordinates.
        x: base64(-2 * curve.octets, -curve.octets),
        y: base64(-curve.octets),
      }
    : { kty: 'RSA', n: base64(), e: RSA_EXPONENT.toString('base64url') };
  return createPublicKey({ key, format: 'jwk' }).export({
    type: 'spki',
    format: 'der',
  });
}

/** @returns at most two handles */
function findPrivateKeys(
  { library, constants }: Cryptoki,
  session: Handle,
  label: string,
): readonly Handle[] {
  library.C_FindObjectsInit(session, [
    { type: constants.CKA_CLASS, value: constants.CKO_PRIVATE_KEY },
    { type: constants.CKA_LABEL, value: label },
  ]);
  try {
    return library.C_FindObjects(session, 2);
  } finally {
    library.C_FindObjectsFinal(session);
  }
}

/** Loads an optional package, which is compiled when it is installed. */
function loadPackage(): Constants {
  try {
    return createRequire(__filename)('pkcs11js');
  } catch (error) {
    throw new SignerUnavailableError(
      'A key in a PKCS#11 token needs the npm package pkcs11js',
      error,
    );
  }
}

function isCode(error: unknown, prefix: string): boolean {
  return isError(error) && error.message.startsWith(prefix);
}
