import type { UserCertificate } from '../../certificates/CertificateReader';
import type { UserSelection } from '../../directory/Directory';
import type { Page, PageRequest } from '../../directory/Page';
import type { Principal } from '../../directory/Principal';
import type { UserField } from '../../directory/schema';
import type { User } from '../../directory/records';
import type { Call } from './Operation';
import type { RecordModel } from '../response/fieldMask';
import type { ParameterErrors } from '../request/ParameterErrors';
import type { UserSearch } from '../request/parseUserSearch';
import type { ApiError, ErrorAnswer } from '../response/apiErrors';
import type { Presented } from '../response/json';
import type { ResourceUris } from '../response/ResourceUris';

/** The records of the contract, as one dialect shows them. */
export interface RecordModels {
  readonly user: RecordModel;
  /** Of members and sponsors. */
  readonly member: RecordModel;
  readonly group: RecordModel;
  /** Of the groups of a user. */
  readonly userGroup: RecordModel;
  readonly certificate: RecordModel;
}

/**
 * How the API speaks at one mount: what it reads from a request, and how it
 * shows an answer. The operations between the two are the same in all.
 */
export interface Dialect {
  /** Everything below this path speaks it; `''` is the plugin's own. */
  readonly root: string;
  readonly uris: ResourceUris;
  /** Content type of every JSON response, errors included. */
  readonly contentType: string;
  /** Whether parameters that extend the contract are read. */
  readonly hasExtensions: boolean;
  /** Whether `//` in a path stands for `/`, like Apache's `MergeSlashes`. */
  readonly mergesSlashes: boolean;
  /** Whether a GET has parameters in a JSON body too. */
  readonly readsBodyOfGet: boolean;
  /** Whether locked accounts are found by name, in lists and by searches. */
  readonly accounts: Pick<UserSelection, 'unlockedOnly'>;
  readonly models: RecordModels;

  /** Whether a path that matched an operation's is one of this API. */
  isPath(request: {
    readonly path: string;
    /** The operation's path, in Express's syntax. */
    readonly template: string;
    /** Decoded. */
    readonly params: Readonly<Record<string, string>>;
  }): boolean;

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

  /** Which fields of the directory the keys of a user's record need. */
  userFieldsFor(keys: readonly string[]): ReadonlySet<UserField>;

  /** A user, with the given keys in their order. */
  presentUser(user: User, keys: readonly string[]): Presented;

  /** A certificate, with the given keys in their order. */
  presentCertificate(
    held: UserCertificate,
    options: {
      readonly keys: readonly string[];
      /** Whether it was signed by this very request. */
      readonly isNew: boolean;
    },
  ): Record<string, unknown>;

  /** One page of a list, or all of it, whose items are presented. */
  presentPage(
    shown: Page<unknown>,
    options: {
      /** `undefined`: all of it. */
      readonly page: PageRequest | undefined;
      readonly call: Pick<Call, 'uri' | 'query'>;
    },
  ): unknown;

  /** The 404 of a list that belongs to a user. */
  userOfListNotFound(username: string): ApiError;

  /** What a caller is told of an error; `undefined` is nothing but 500. */
  presentError(error: unknown): ErrorAnswer | undefined;
}
