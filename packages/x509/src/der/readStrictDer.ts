import { checkContent } from './checkContent';
import { DerError } from './DerError';
import { DerNode } from './DerNode';
import { parseDer } from './parseDer';
import { parseWithForge } from './parseWithForge';
import { encode } from './writeDer';

/**
 * Parses what must be DER to the letter, so that no two readers can understand it differently.
 *
 * Three gates: our own parser bounds size and depth, every value of a universal type must be in its
 * canonical form, and a second parser, node-forge, must write the very same bytes after reading
 * them. The second comes last because its recursion and its tolerance need the bounds of the first.
 *
 * @throws DerError
 */
export function readStrictDer(bytes: Buffer): DerNode {
  const node = parseDer(bytes);
  checkContent(node);
  if (!survivesForge(bytes)) {
    throw new DerError('Two parsers disagree about the bytes');
  }
  return node;
}

function survivesForge(bytes: Buffer): boolean {
  try {
    return encode(parseWithForge(bytes)).equals(bytes);
  } catch {
    return false;
  }
}
