import {
  type Certificate,
  type DirectoryClient,
  isDirectoryResponseError,
} from '@directory-gateway/backstage-plugin-directory-common';
import { collect, LARGEST_PAGE } from '../../api/useDirectoryQuery';

/**
 * The certificate of a serial number as its authority knows it; one of the
 * reader's own that no authority of the gateway has issued, as their record
 * has it.
 *
 * @throws DirectoryResponseError 404 when it is neither
 */
export async function loadCertificate(
  serial: bigint,
  client: DirectoryClient,
  signal: AbortSignal,
): Promise<Certificate> {
  try {
    const { data } = await client.get('/certs/{serial_number}/', {
      params: { path: { serial_number: serial } },
      signal,
    });
    // A CA has it on record, or this would be 404.
    return { ...data.result, issued_here: true };
  } catch (error) {
    if (!isDirectoryResponseError(error) || error.status !== 404) {
      throw error;
    }
    const own = await listOwn(client, signal);
    const found = own.find(({ serial_number }) => serial_number === serial);
    if (!found) {
      throw error;
    }
    return found;
  }
}

async function listOwn(
  client: DirectoryClient,
  signal: AbortSignal,
): Promise<Certificate[]> {
  const username = await askWhoReads(client, signal);
  if (!username) {
    return [];
  }
  const own = await collect(
    ({ page_number }) =>
      client.get('/users/{username}/certificates/', {
        params: {
          path: { username },
          query: { page_number, page_size: LARGEST_PAGE },
          header: { 'X-Fields': '*,issued_here' },
        },
        signal,
      }),
    signal,
  );
  // The mask asks for all fields.
  return own as Certificate[];
}

/** The reader's user name, `null` for who has none. */
async function askWhoReads(
  client: DirectoryClient,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    return (await client.get('/me/', { signal })).data.result.username;
  } catch (error) {
    if (isDirectoryResponseError(error) && error.status === 403) {
      return null;
    }
    throw error;
  }
}
