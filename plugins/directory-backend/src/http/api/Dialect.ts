import type { IncomingHttpHeaders } from 'node:http';
import type {
  Page,
  PageRequest,
  Principal,
  User,
  UserField,
  UserSelection,
} from '@directory-gateway/directory-core';
import type { UserCertificate } from '../../certificates/UserCertificates';
import type { RecordModel } from '../response/fieldMask';
import type { ParameterErrors } from '../request/ParameterErrors';
import type { UserSearch } from '../request/parseUserSearch';
import type { ApiError, ErrorResponse } from '../../apiErrors';
import type { PresentedRecord } from '../response/json';
import type { ResourceUris } from '../response/ResourceUris';
import type { Call } from './Operation';

/** The record models of a dialect. */
interface RecordModels {
  readonly user: RecordModel;
  /** Of members and sponsors. */
  readonly member: RecordModel;
  readonly group: RecordModel;
  /** Of the groups of a user. */
  readonly userGroup: RecordModel;
  readonly certificate: RecordModel;
}

/**
 * One form of the API: the contract's own, or that of an existing service whose
 * clients must keep working. A dialect parses requests and presents results;
 * the operations are the same in all dialects.
 */
export interface Dialect {
  /** Path below the plugin in front of `/v1`; `''` for the contract's own. */
  readonly root: string;
  readonly uris: ResourceUris;
  /** Content type of every JSON response, errors included. */
  readonly contentType: string;
  /** Message of the version list at the root. */
  readonly welcome: string;
  /**
   * Title of every failed health check. The default is the status of the
   * replica.
   */
  readonly unhealthyTitle?: string;
  /** Whether extensions of the contract are available. */
  readonly hasExtensions: boolean;
  /** Whether `//` in a path is read as `/`, like Apache's `MergeSlashes`. */
  readonly mergesSlashes: boolean;
  /** Whether parameters of the query precede those of a form in the body. */
  readonly queryOverridesForm: boolean;
  /** Accounts that lookups by name, lists and searches return. */
  readonly accounts: Pick<UserSelection, 'unlockedOnly'>;
  readonly models: RecordModels;

  /** Returns the API document for clients of a base path such as `/api/x/v1`. */
  specification(basePath: string): object;

  /** Whether a path that matches an operation's template is valid here. */
  isPath(request: {
    readonly path: string;
    /** The operation's path, in Express's syntax. */
    readonly template: string;
    /** Decoded. */
    readonly params: Readonly<Record<string, string>>;
  }): boolean;

  /**
   * Parses the parameters in the body of a GET, which precede those of the
   * query. Bodies of GET requests are ignored without this method.
   */
  readQueryBody?(request: {
    readonly headers: IncomingHttpHeaders;
    readonly body: Buffer;
  }): readonly [string, string][];

  /** Parses which page of a list is requested; `undefined` is the whole list. */
  readPage(
    query: URLSearchParams,
    errors: ParameterErrors,
  ): PageRequest | undefined;

  /** Parses the parameters of a user search. */
  readUserSearch(query: URLSearchParams, errors: ParameterErrors): UserSearch;

  /**
   * `dn`, `username`, `service` and `uri` of the caller's directory entry;
   * `null` where a key does not apply.
   */
  presentMe(account: Principal): Readonly<Record<string, string | null>>;

  /** The directory fields that the given keys of a user record require. */
  userFieldsFor(keys: readonly string[]): ReadonlySet<UserField>;

  /** A user record with the given keys, in their order. */
  presentUser(user: User, keys: readonly string[]): PresentedRecord;

  /** A member or sponsor with the given keys, in their order. */
  presentMember(user: User, keys: readonly string[]): PresentedRecord;

  /** A certificate record with the given keys, in their order. */
  presentCertificate(
    issued: UserCertificate,
    options: {
      readonly keys: readonly string[];
      /** Whether this request signed it. */
      readonly isNew: boolean;
    },
  ): Record<string, unknown>;

  /** Wraps a page of a list, or the whole list, of presented items. */
  presentPage(
    shown: Page<unknown>,
    options: {
      /** `undefined` for the whole list. */
      readonly page: PageRequest | undefined;
      readonly call: Pick<Call, 'uri' | 'query'>;
    },
  ): unknown;

  /** The 404 of a list below an unknown user, such as the user's groups. */
  userOfListNotFound(username: string): ApiError;

  /** The response to an error; `undefined` for an internal error. */
  presentError(error: unknown): ErrorResponse | undefined;
}
