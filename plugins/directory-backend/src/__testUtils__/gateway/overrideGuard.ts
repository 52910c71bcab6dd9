import type { EntryCounts } from '@directory-gateway/directory-core';
import type { Gateway } from './startGateway';

const ACTION =
  'api/directory/.backstage/actions/v1/actions/directory:override-deletion-guard/invoke';

/**
 * Overrides the mass-deletion guard in one process.
 *
 * @param token - portal token
 * @returns the status code of the response
 */
export async function overrideGuard(
  { baseUrl }: Pick<Gateway, 'baseUrl'>,
  { users, groups, token }: EntryCounts & { readonly token: string },
): Promise<number> {
  const response = await fetch(`${baseUrl}/${ACTION}`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({ users, groups }),
  });
  await response.arrayBuffer();
  return response.status;
}

/** Returns the counts of the last rejected sync in the log of a process. */
export function rejectedCounts({
  log,
}: Pick<Gateway, 'log'>): EntryCounts | undefined {
  const found = [...log().matchAll(/with users=(\d+) and groups=(\d+)/g)].at(
    -1,
  );
  return found && { users: Number(found[1]), groups: Number(found[2]) };
}
