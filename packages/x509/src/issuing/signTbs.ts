import { bitString, DerValue, encode, sequence } from '../der/writeDer';
import { SigningKey } from './SigningKey';

/** Signs what is to be signed, and puts it, the algorithm and the signature together. */
export function signTbs(tbs: DerValue, key: SigningKey): Buffer {
  const signature = key.sign(encode(tbs));
  return encode(sequence(tbs, key.algorithm, bitString(signature)));
}
