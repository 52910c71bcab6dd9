import type { BasicPermission } from '@backstage/plugin-permission-common';
import { directoryReadPermission } from '@directory-gateway/backstage-plugin-directory-common';
import type {
  Caller,
  CallerContext,
  Principal,
} from '@directory-gateway/directory-core';
import {
  type ParameterErrors,
  parseParameters,
} from '../request/ParameterErrors';
import type { RequestParameters } from '../request/readParameters';
import { type RecordModel, resolveFields } from '../response/fieldMask';
import { ForbiddenError } from '../../apiErrors';

/** An authenticated and authorized request, without HTTP types. */
export interface Call {
  readonly caller: Caller;
  /** Absolute URL of the request, without its query. */
  readonly uri: string;
  /** Path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Parameters in the body and the query of a write; empty for a GET. */
  readonly parameters: RequestParameters;
  /** The `X-Fields` header. */
  readonly fieldMask: string | undefined;
  /** Context of queries to the directory. */
  readonly context: CallerContext;
}

/** A call that access control or the origin check denied. */
interface DeniedCall {
  readonly caller: Caller;
  readonly error: Error;
  /** Path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>;
}

/** An operation of the API. */
export interface Operation {
  /** The contract's operationId. */
  readonly id: string;
  readonly method: 'get' | 'post' | 'put';
  /** Path below `/v1`, in Express's syntax. */
  readonly path: string;
  /** Permission that the caller needs, or `handler` if the handler decides. */
  readonly permission: BasicPermission | 'handler';
  /**
   * Returns the JSON body of the response, or a `FileStream`.
   *
   * @throws ApiError for the caller; other errors become responses in
   *   `presentError`.
   */
  handle(call: Call): Promise<unknown>;
  /** Audits a denied call. Without it, only the request log records the call. */
  recordDenial?(denied: DeniedCall): Promise<void>;
}

/** Declaration of an operation. */
type Declaration<Input> = Omit<
  Operation,
  'method' | 'permission' | 'handle'
> & {
  /** Default: `get`. */
  readonly method?: Operation['method'];
  /** Default: the permission to read. */
  readonly permission?: Operation['permission'];
  /** Parses the parameters, and adds an error for each malformed one. */
  parse?(call: Call, errors: ParameterErrors): Input;
  /** The records of the response. Without it, `X-Fields` is ignored. */
  readonly model?: RecordModel;
  /** Like `Operation.handle`, after parameters and mask are parsed. */
  handle(
    call: Call,
    request: {
      readonly input: Input;
      /** Keys of the records, in their order. */
      readonly keys: readonly string[];
    },
  ): Promise<unknown>;
};

/**
 * Declares an operation. Malformed parameters are reported before a malformed
 * field mask.
 */
export function operation<Input = undefined>(
  declaration: Declaration<Input>,
): Operation {
  const { parse, model, handle, ...declared } = declaration;
  return {
    method: 'get',
    permission: directoryReadPermission,
    ...declared,
    async handle(call) {
      const input = parse
        ? parseParameters(errors => parse(call, errors))
        : (undefined as Input);
      const keys = model ? resolveFields(call.fieldMask, model) : [];
      return handle(call, { input, keys });
    },
  };
}

/**
 * Returns the directory account of a caller.
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
