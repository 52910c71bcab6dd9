import { readFile } from 'node:fs/promises';
import { readChain } from './AuthorityStore';
import { KeyRefusedError } from './KeyRefusedError';

/**
 * Reads the certificate of an authority and those above it, PEM.
 *
 * @returns DER
 * @throws KeyRefusedError when the file is not there, or damaged.
 */
export async function readChainFile(path: string): Promise<readonly Buffer[]> {
  try {
    return readChain(await readFile(path, 'utf8'));
  } catch (error) {
    throw new KeyRefusedError(`${path} cannot be read`, error);
  }
}
