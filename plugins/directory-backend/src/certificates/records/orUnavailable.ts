import { AuthorityUnavailableError } from '@directory-gateway/backstage-plugin-directory-node';

/**
 * Reports database errors as unavailable: they are not the caller's fault, and
 * must not look like a missing record or permit a blocked key.
 *
 * @throws AuthorityUnavailableError when `work` fails for any reason
 */
export async function orUnavailable<T>(work: () => PromiseLike<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AuthorityUnavailableError) {
      throw error;
    }
    throw new AuthorityUnavailableError('The database is not available', error);
  }
}
