import type {
  Client,
  ClientPathsWithMethod,
  MaybeOptionalInit,
} from 'openapi-fetch';
import type { paths } from './generated/openapi';

/**
 * A typed client for the directory. `get`, `post` and `put` take the parameters
 * of openapi-fetch's `GET`, `POST` and `PUT`. They throw a {@link
 * DirectoryResponseError} for an error status, the error of `fetch` if there is
 * no response, and a SyntaxError for a response that is not JSON. Middleware
 * works as in openapi-fetch.
 *
 * @public
 */
export interface DirectoryClient extends Pick<Client<paths>, 'use' | 'eject'> {
  /** Calls a GET operation. */
  get: DirectoryMethod<'get'>;
  /** Calls a POST operation. */
  post: DirectoryMethod<'post'>;
  /** Calls a PUT operation. */
  put: DirectoryMethod<'put'>;
  /**
   * Calls a GET operation that returns a file and streams it. Reading throws if
   * the response is aborted.
   */
  stream: DirectoryStream;
}

/**
 * Type of {@link DirectoryClient.stream}. Aborting the `signal` ends the
 * response and the work of the server.
 *
 * @public
 */
export type DirectoryStream = <
  Path extends Exclude<
    ClientPathsWithMethod<Client<paths>, 'get'>,
    JsonPath<'get'>
  >,
>(
  path: Path,
  init: MaybeOptionalInit<paths[Path], 'get'>,
) => Promise<{ data: ReadableStream<Uint8Array>; response: Response }>;

/**
 * A method of {@link DirectoryClient}. Serial numbers are `bigint` in paths and
 * responses. Records are complete unless `params.header['X-Fields']` contains a
 * mask: then any key may be missing. With `dry_run: 'true' as const`, the data
 * is a signing check.
 *
 * @public
 */
export type DirectoryMethod<Method extends 'get' | 'post' | 'put'> = <
  Path extends JsonPath<Method>,
  Init extends MaybeOptionalInit<paths[Path], Method> = WithoutMask<
    MaybeOptionalInit<paths[Path], Method>
  >,
>(
  path: Path,
  ...init: {} extends NonNullable<Init> ? [init?: Init] : [init: Init]
) => Promise<{
  data: ResponseBody<BodyOfRun<Body<paths[Path], Method>, Init>, MaskOf<Init>>;
  response: Response;
}>;

/**
 * Paths of operations that return JSON.
 *
 * @ignore
 */
type JsonPath<Method extends 'get' | 'post' | 'put'> = {
  [Path in ClientPathsWithMethod<Client<paths>, Method>]: [
    Body<paths[Path], Method>,
  ] extends [never]
    ? never
    : Path;
}[ClientPathsWithMethod<Client<paths>, Method>];

/**
 * JSON bodies of a 200 response, complete and masked.
 *
 * @ignore
 */
type Body<PathItem, Method extends string> = PathItem extends {
  [key in Method]: {
    responses: { 200: { content: { 'application/json': infer Data } } };
  };
}
  ? Data
  : never;

/**
 * A signing check with `dry_run`, otherwise the certificate.
 *
 * @ignore
 */
type BodyOfRun<Data, Init> = Init extends { body: { dry_run: 'true' } }
  ? Extract<Data, { result: { would_sign: boolean } }>
  : Exclude<Data, { result: { would_sign: boolean } }>;

interface MaskHeader<Mask> {
  params?: { header?: { 'X-Fields'?: Mask } };
}

/**
 * Default of `Init`.
 *
 * @ignore
 */
type WithoutMask<Init> = NonNullable<Init> & MaskHeader<undefined>;

/**
 * The mask in the options of a call; `undefined` if there is none.
 *
 * @ignore
 */
type MaskOf<Init> = Init extends { params?: { header?: infer Header } }
  ? 'X-Fields' extends keyof NonNullable<Header>
    ? NonNullable<Header>['X-Fields']
    : undefined
  : undefined;

/**
 * The body for a mask. Operations without masks have only one body.
 *
 * @ignore
 */
type ResponseBody<Data, Mask> = [Mask] extends [undefined]
  ? CompleteBody<Data>
  : [MaskedBody<Data>] extends [never]
    ? Data
    : MaskedBody<Data>;

/** Bodies of records in which any key may be missing. */
type MaskedBody<Data> = Data extends { result: infer Result }
  ? {} extends ItemOf<Result>
    ? Data
    : never
  : never;

type CompleteBody<Data> = Data extends { result: infer Result }
  ? {} extends ItemOf<Result>
    ? never
    : Data
  : never;

type ItemOf<Result> = Result extends readonly (infer Item)[] ? Item : Result;
