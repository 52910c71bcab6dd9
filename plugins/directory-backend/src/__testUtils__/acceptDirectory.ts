import type { Gateway } from './startGateway';

const ACTION =
  'api/directory/.backstage/actions/v1/actions/directory:accept-directory/invoke';

/**
 * Has an administrator tell one process that the directory is right.
 *
 * @param token - of the portal
 * @returns what was refused until then
 */
export async function acceptDirectory(
  { baseUrl }: Pick<Gateway, 'baseUrl'>,
  token: string,
): Promise<string | null> {
  const response = await fetch(`${baseUrl}/${ACTION}`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
    },
    body: '{}',
  });
  const { output } = await response.json();
  return output.accepted;
}
