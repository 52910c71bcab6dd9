import type { BasicPermission } from '@backstage/plugin-permission-common';
import type { Caller } from '../directory/Caller';
import type { DirectoryContext } from '../directory/Directory';
import type { RequestParameters } from './request/readParameters';

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
  /** What questions to the directory carry. */
  readonly context: DirectoryContext;
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
   * Puts on record that a caller was turned away before there was a call.
   * Default: the request log alone tells of it.
   */
  recordRefusal?(caller: Caller, error: Error): Promise<void>;
}
