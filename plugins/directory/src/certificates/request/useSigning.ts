import { useApi } from '@backstage/frontend-plugin-api';
import { useMutation } from '@tanstack/react-query';
import { directoryApiRef } from '../../api/directoryApi';

/** What is sent, all of it. */
export interface SigningOrder {
  username: string;

  profile: string;

  /** PEM. */
  csr: string;
}

/** Asks for the verdict, rule by rule; nothing is signed. */
export function useVerdict() {
  const { client, queries } = useApi(directoryApiRef);
  return useMutation(
    {
      mutationFn: async (order: SigningOrder) => {
        const { data } = await client.post('/certs/', {
          body: { ...bodyOf(order), dry_run: 'true' as const },
        });
        return data.result;
      },
      networkMode: 'always',
      gcTime: 0,
    },
    queries,
  );
}

/** Has a request signed. */
export function useSigning() {
  const { client, queries } = useApi(directoryApiRef);
  return useMutation(
    {
      mutationFn: async (order: SigningOrder) => {
        const { data } = await client.post('/certs/', { body: bodyOf(order) });
        return data.result;
      },
      onSuccess: () =>
        queries.invalidateQueries({
          queryKey: ['directory', 'my-certificates'],
        }),
      networkMode: 'always',
      gcTime: 0,
    },
    queries,
  );
}

function bodyOf({ username, profile, csr }: SigningOrder) {
  return { user: username, csr, profile };
}
