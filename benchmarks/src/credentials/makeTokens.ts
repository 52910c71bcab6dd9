import { GSS_MECH_OID_SPNEGO, initializeClient } from 'kerberos';

/** A request to this process. */
export interface TokenRequest {
  /** Credential cache of the caller, as `KRB5CCNAME`. */
  readonly ticket: string;
  readonly count: number;
}

/** The response; the loader sends messages of other types. */
export interface TokenResponse {
  readonly type: 'tokens';
  readonly tokens: readonly string[];
}

process.on('message', async message => {
  const { ticket, count } = message as TokenRequest;
  // The Kerberos library reads the variable for each context.
  process.env.KRB5CCNAME = ticket;
  const tokens: string[] = [];
  while (tokens.length < count) {
    const client = await initializeClient('HTTP@localhost', {
      mechOID: GSS_MECH_OID_SPNEGO,
    });
    tokens.push(await client.step(''));
  }
  process.send?.({ type: 'tokens', tokens } satisfies TokenResponse);
});
process.on('disconnect', () => process.exit());
