import { isNativeError } from 'node:util/types';
import { initializeServer, KerberosServer } from 'kerberos';

/** Result of the GSS-API for a token (RFC 2743 §2.2.2). */
export type SecurityContext =
  | {
      state: 'established';
      /** The client's principal. */
      principal: string;
      /** The principal of the key that decrypted the ticket. */
      service: string;
      replyToken?: string;
    }
  | { state: 'continuation_needed' }
  | { state: 'failed'; status: string };

/** The binding's accessors are `null` until they have a value, unlike in its typings. */
type ServerContext = {
  [K in 'username' | 'targetName' | 'response']: string | null;
} & Pick<KerberosServer, 'contextComplete' | 'step'>;

/**
 * The binding treats "continue" as success and then fails to read the client's name, which is not
 * known yet. It rejects with the status of that second call.
 */
const NAME_NOT_KNOWN_YET = 'A required input parameter could not be read: ';

/**
 * Passes one token to a new security context of the `kerberos` binding.
 *
 * The context is created without a name, so that any key in the keytab may
 * decrypt the ticket. Only such a context sets `targetName`, and only for such
 * a context does the binding read the state and thus fail if the context is not
 * established.
 *
 * @param token - canonical base64, not empty: the binding decodes anything else to an empty token
 * @returns never rejects; `status` is the library's text, `<major>: <minor>`, and can contain names
 * chosen by the sender
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
