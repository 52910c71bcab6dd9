import { isNativeError } from 'node:util/types';
import { initializeServer, KerberosServer } from 'kerberos';

/**
 * What the GSS-API made of a token (RFC 2743 §2.2.2).
 */
export type SecurityContext =
  | {
      state: 'established';
      /** The client's principal. */
      principal: string;
      /** The principal of the key that opened the ticket. */
      service: string;
      replyToken?: string;
    }
  | { state: 'continuation_needed' }
  | { state: 'failed'; status: string };

/**
 * The binding's accessors are `null` until they have something to say; its typings deny it.
 */
type ServerContext = {
  [K in 'username' | 'targetName' | 'response']: string | null;
} & Pick<KerberosServer, 'contextComplete' | 'step'>;

/**
 * The binding treats "continue" as success and then trips over the client's name, which is not
 * known yet. The status it rejects with is that of the second call.
 */
const NAME_NOT_KNOWN_YET = 'A required input parameter could not be read: ';

/**
 * Gives one token to a security context of its own, through the `kerberos` binding.
 *
 * The context is created without a name, so that any key in the keytab may open the ticket. It is
 * also the only form whose `targetName` is filled, and the only one in which the binding asks for
 * the context's state and thus fails on one that is not established.
 *
 * @param token - base64, canonical and not empty: the binding's own decoder turns anything else
 * into an empty token
 * @returns never rejects; `status` is the library's text, `<major>: <minor>`, and can contain
 * names that the sender made up
 */
export async function acceptSecurityContext(
  token: string,
): Promise<SecurityContext> {
  let context: ServerContext | undefined;
  try {
    context = await initializeServer('');
    await context.step(token);
  } catch (error) {
    const status = isNativeError(error) ? error.message : String(error);
    return context?.response || status.startsWith(NAME_NOT_KNOWN_YET)
      ? { state: 'continuation_needed' }
      : { state: 'failed', status };
  }
  const { username, targetName, response, contextComplete } = context;
  if (!contextComplete || !username || !targetName) {
    return { state: 'continuation_needed' };
  }
  return {
    state: 'established',
    principal: username,
    service: targetName,
    ...(response && { replyToken: response }),
  };
}
