import type { BasicPermission } from '@backstage/plugin-permission-common';
import type { Caller, CallerContext } from '../../directory/Caller';
import type { RequestParameters } from '../request/readParameters';
import type { Principal } from '../../directory/Principal';
import { ForbiddenError } from '../response/apiErrors';

/** One authenticated, authorised request, free of HTTP. */
export interface Call {
  readonly caller: Caller;
  /** What was asked for, absolute, without its query. */
  readonly uri: string;
  /** Path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Of a POST: the parameters of its body and of its query. */
  readonly parameters: RequestParameters;
  /** The `X-Fields` header. */
  readonly fieldMask: string | undefined;
  /** Context of queries to the directory. */
  readonly context: CallerContext;
}

/** A call that access control or the origin check refused. */
export interface Refusal {
  readonly caller: Caller;
  readonly error: Error;
  /** Path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>;
}

/** One operation of the contract: where it is, who may, what it answers. */
export interface Operation {
  /** The contract's operationId. */
  readonly id: string;
  readonly method: 'get' | 'post';
  /** Below the version's prefix, in Express's syntax. */
  readonly path: string;
  readonly permission: BasicPermission;
  /**
   * Resolves with the JSON body of the answer or a `FileStream`, or throws an
   * `ApiError`.
   */
  handle(call: Call): Promise<unknown>;
  /**
   * Audits that the caller was refused before the operation began. Default:
   * only the request log tells.
   */
  recordRefusal?(refusal: Refusal): Promise<void>;
}

/**
 * The directory's entry of a caller.
 *
 * @throws ForbiddenError when the caller has none.
 */
export function requireAccount({ account }: Caller): Principal {
  if (!account) {
    throw new ForbiddenError({
      message: 'You have no identity in the directory.',
    });
  }
  return account;
}
