import {
  type ClientResponse,
  type GatewayClient,
  form,
  resultOf,
} from './GatewayClient';

/** A user asks for a certificate of their own. */
export function signAs(
  client: GatewayClient,
  user: string,
  csr: string,
): Promise<ClientResponse> {
  return client.request('/v1/certs/', { as: user, ...form({ user, csr }) });
}

/** Dave, whom the configuration lets revoke, revokes one. */
export function revoke(
  client: GatewayClient,
  serial: string,
): Promise<ClientResponse> {
  return client.request(`/v1/certs/${serial}/revocation/`, {
    as: 'dave',
    ...form({ reason: 'superseded' }),
  });
}

/**
 * How many certificates a user's record has, as each process says: those of the
 * directory, and the usable ones that were signed here.
 */
export function countCertificates(
  clients: readonly GatewayClient[],
  user: string,
): Promise<readonly number[]> {
  return Promise.all(
    clients.map(async client => {
      const response = await client.request(`/v1/users/${user}/`, {
        as: 'bob',
      });
      return ((resultOf(response).certificates ?? []) as string[]).length;
    }),
  );
}
