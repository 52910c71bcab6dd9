import { DerError } from '../der/DerError';
import { DerNode, TAG } from '../der/DerNode';
import { expectTag } from '../der/readDer';
import { decodeText } from '../der/readText';

/**
 * Reads the value of a UPN: a UTF8String ([MS-WCCE] §2.2.2.7.5) that names somebody.
 *
 * @throws DerError
 */
export function readUserPrincipalName(node: DerNode): string {
  const text = decodeText(expectTag(node, TAG.utf8String).content, 'utf8');
  if (text === '' || /\p{Cc}/u.test(text)) {
    throw new DerError('A UPN is empty or holds control characters');
  }
  return text;
}
