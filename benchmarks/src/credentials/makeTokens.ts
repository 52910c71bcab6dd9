import { GSS_MECH_OID_SPNEGO, initializeClient } from 'kerberos';

/** What a process that makes tokens is asked for. */
export interface TokenOrder {
  /** The caller's tickets, as a value for `KRB5CCNAME`. */
  readonly ticket: string;
  readonly count: number;
}

/** What it answers; the loader sends messages of other types. */
export interface TokenDelivery {
  readonly type: 'tokens';
  readonly tokens: readonly string[];
}

process.on('message', async message => {
  const { ticket, count } = message as TokenOrder;
  // Read by the Kerberos library each time a context is made.
  process.env.KRB5CCNAME = ticket;
  const tokens: string[] = [];
  for (let made = 0; made < count; made++) {
    const client = await initializeClient('HTTP@localhost', {
      mechOID: GSS_MECH_OID_SPNEGO,
    });
    tokens.push(await client.step(''));
  }
  process.send?.({ type: 'tokens', tokens } satisfies TokenDelivery);
});
process.on('disconnect', () => process.exit());
