import type {
  Client,
  ClientPathsWithMethod,
  MaybeOptionalInit,
} from 'openapi-fetch';
import type { paths } from './generated/openapi';

/**
 * A typed client of the directory. `get` and `post` take what openapi-fetch's
 * `GET` and `POST` take, and either answer or throw: a
 * {@link DirectoryResponseError} for an error status, what `fetch` throws when
 * there is no answer, and a SyntaxError for an answer that is not JSON.
 * Middleware is openapi-fetch's.
 *
 * @public
 */
export interface DirectoryClient extends Pick<Client<paths>, 'use' | 'eject'> {
  /** Calls a GET operation. */
  get: DirectoryMethod<'get'>;
  /** Calls a POST operation. */
  post: DirectoryMethod<'post'>;
  /**
   * Calls a GET operation whose answer is a file, and gives it as it comes.
   * Reading throws when the answer breaks off: what ends properly is whole.
   */
  stream: DirectoryStream;
}

/**
 * {@link DirectoryClient.stream}. An aborted `signal` ends the answer, and the
 * work behind it.
 *
 * @public
 */
export type DirectoryStream = <Path extends FilePath>(
  path: Path,
  init: MaybeOptionalInit<paths[Path], 'get'>,
) => Promise<{ data: ReadableStream<Uint8Array>; response: Response }>;

/**
 * A method of {@link DirectoryClient}. Serial numbers are `bigint`, in paths
 * and in answers. Records are complete unless `params.header['X-Fields']`
 * sends a mask: then every key may be missing. A
 * verdict is the answer to `dry_run: 'true' as const`.
 *
 * @public
 */
export type DirectoryMethod<Method extends 'get' | 'post'> = <
  Path extends JsonPath<Method>,
  Init extends MaybeOptionalInit<paths[Path], Method> = WithoutMask<
    MaybeOptionalInit<paths[Path], Method>
  >,
>(
  path: Path,
  ...init: {} extends NonNullable<Init> ? [init?: Init] : [init: Init]
) => Promise<{
  data: Answer<OfRun<Body<paths[Path], Method>, Init>, MaskOf<Init>>;
  response: Response;
}>;

/** The operations that answer JSON. */
type JsonPath<Method extends 'get' | 'post'> = {
  [Path in ClientPathsWithMethod<Client<paths>, Method>]: [
    Body<paths[Path], Method>,
  ] extends [never]
    ? never
    : Path;
}[ClientPathsWithMethod<Client<paths>, Method>];

/** The operations that answer a file. */
type FilePath = Exclude<
  ClientPathsWithMethod<Client<paths>, 'get'>,
  JsonPath<'get'>
>;

/** The JSON bodies of a successful answer: complete and masked. */
type Body<PathItem, Method extends string> = PathItem extends {
  [key in Method]: {
    responses: { 200: { content: { 'application/json': infer Data } } };
  };
}
  ? Data
  : never;

/** A signing verdict where it is asked for (`dry_run`), else what is signed. */
type OfRun<Data, Init> = Init extends { body: { dry_run: 'true' } }
  ? Extract<Data, { result: { would_sign: boolean } }>
  : Exclude<Data, { result: { would_sign: boolean } }>;

interface MaskHeader<Mask> {
  params?: { header?: { 'X-Fields'?: Mask } };
}

/** What `Init` stands for in a call that has none. */
type WithoutMask<Init> = NonNullable<Init> & MaskHeader<undefined>;

/** `undefined` when the options of a call certainly send no mask. */
type MaskOf<Init> = Init extends { params?: { header?: infer Header } }
  ? 'X-Fields' extends keyof NonNullable<Header>
    ? NonNullable<Header>['X-Fields']
    : undefined
  : undefined;

/** The body that fits the mask; an operation without masks has but one. */
type Answer<Data, Mask> = [Mask] extends [undefined]
  ? CompleteBody<Data>
  : [MaskedBody<Data>] extends [never]
  ? Data
  : MaskedBody<Data>;

/** Of the bodies, those whose records may lack every key. */
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
