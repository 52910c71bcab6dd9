/* eslint-disable no-restricted-imports, @backstage/no-forbidden-package-imports, @backstage/no-mixed-plugin-imports -- what the tests hold adapters against is what the soak holds answers against */
import type { DumpedEntry } from '@directory-gateway/backstage-plugin-directory-backend/src/__testUtils__/naive/DumpedEntry';
import { NaiveDirectory } from '@directory-gateway/backstage-plugin-directory-backend/src/__testUtils__/naive/NaiveDirectory';
import { UserCertificates } from '@directory-gateway/backstage-plugin-directory-backend/src/certificates/UserCertificates';
import type { Caller } from '@directory-gateway/backstage-plugin-directory-backend/src/directory/Caller';
import { PrincipalSet } from '@directory-gateway/backstage-plugin-directory-backend/src/directory/PrincipalSet';
import { PrivateDirectory } from '@directory-gateway/backstage-plugin-directory-backend/src/directory/PrivateDirectory';
import {
  userFieldNames,
  userFields,
  type FieldDefinition,
  type UserField,
} from '@directory-gateway/backstage-plugin-directory-backend/src/directory/schema';
import type { Operation } from '@directory-gateway/backstage-plugin-directory-backend/src/http/Call';
import { colleaguesOperation } from '@directory-gateway/backstage-plugin-directory-backend/src/http/colleagues';
import { contractOperations } from '@directory-gateway/backstage-plugin-directory-backend/src/http/contractOperations';
import { contractDialect } from '@directory-gateway/backstage-plugin-directory-backend/src/http/dialect/contractDialect';
import { exportMembersOperation } from '@directory-gateway/backstage-plugin-directory-backend/src/http/exportMembers';
import { membershipOperations } from '@directory-gateway/backstage-plugin-directory-backend/src/http/memberships';
import { FileStream } from '@directory-gateway/backstage-plugin-directory-backend/src/http/response/FileStream';
import { writeJson } from '@directory-gateway/backstage-plugin-directory-backend/src/http/response/JsonText';
import { ResourceUris } from '@directory-gateway/backstage-plugin-directory-backend/src/http/response/ResourceUris';
import { toApiError } from '@directory-gateway/backstage-plugin-directory-backend/src/http/response/toApiError';
import { searchGroupsOperation } from '@directory-gateway/backstage-plugin-directory-backend/src/http/searchGroups';
import { userCertificatesOperation } from '@directory-gateway/backstage-plugin-directory-backend/src/http/userCertificates';
import type { ComparedAnswer } from './ComparedAnswer';
import type { SoakQuestion } from './SoakQuestion';
import { withoutServersOwn } from './withoutServersOwn';

/** Of `uri` fields, less the server's origin, as answers are compared. */
const BASE = '/api/directory';

/** Nobody hears of exports that no portal has made. */
const SILENT = {
  createEvent: async () => ({ success: async () => {}, fail: async () => {} }),
};

/**
 * What the API must answer, worked out from all entries of the directory.
 *
 * Who is found, counted and shown is decided by the model that the adapters'
 * tests are held against (`NaiveDirectory`), which has no line in common with
 * what is soaked: no filter, no index, no copy, no clock. Privacy, masks and
 * JSON are the gateway's own, so that whole answers can be compared to the
 * letter and no question needs a comparison of its own; the portals share them
 * as well, and their tests are others.
 */
export class RawAnswers {
  readonly #directory: NaiveDirectory;
  readonly #realm: string;
  readonly #operations: readonly Operation[];

  constructor(entries: readonly DumpedEntry[], realm: string) {
    this.#directory = new NaiveDirectory(entries, 'fas');
    this.#realm = realm;
    this.#operations = operationsOf(this.#directory);
  }

  /**
   * The answer to somebody who is known by a ticket or by a token of the
   * portal; `undefined` where it does not come from the directory.
   */
  async answer(
    { path, mask }: SoakQuestion,
    username: string,
  ): Promise<ComparedAnswer | undefined> {
    const { pathname, searchParams } = new URL(path, 'http://localhost');
    for (const operation of this.#operations) {
      const params = paramsOf(pathname, operation);
      if (params) {
        return answerOf(operation, {
          ...{ params, query: searchParams, fieldMask: mask },
          caller: await this.#callerOf(username),
        });
      }
    }
    return undefined;
  }

  async #callerOf(username: string): Promise<Caller> {
    const principal = `${username}@${this.#realm}`;
    const account = await this.#directory.findPrincipal({ principal });
    if (!account) {
      throw new Error(`${principal} is nobody`);
    }
    return { kind: 'kerberos', principal, credential: 'ticket', account };
  }
}

function operationsOf(naive: NaiveDirectory): readonly Operation[] {
  const fields: Record<UserField, FieldDefinition> = userFields;
  const directory = new PrivateDirectory(naive, {
    hidden: new Set(
      userFieldNames.filter(name => fields[name].hiddenByDefault),
    ),
    trustedReaders: new PrincipalSet({}),
  });
  const uris = new ResourceUris(BASE);
  const rooms = { directory, uris };
  return [
    ...contractOperations({
      ...{ directory, dialect: contractDialect(uris), certificates: undefined },
    }),
    colleaguesOperation(rooms),
    ...membershipOperations(rooms),
    exportMembersOperation({ ...rooms, auditor: SILENT }),
    searchGroupsOperation(rooms),
    userCertificatesOperation({
      // None are issued while the soak goes on.
      certificates: new UserCertificates({
        ...{ directory, authority: { get: async () => undefined } },
      }),
      uris,
    }),
  ];
}

/** The parameters in a path, if it is the operation's. */
function paramsOf(
  pathname: string,
  { path }: Operation,
): Readonly<Record<string, string>> | undefined {
  const names: string[] = [];
  const pattern = path.replace(/\./g, '\\.').replace(/:(\w+)/g, (_, name) => {
    names.push(name);
    return '([^/]+)';
  });
  const found = new RegExp(`^${pattern.replace(/\/$/, '/?')}$`).exec(pathname);
  return (
    (found &&
      Object.fromEntries(
        names.map((name, at) => [name, decodeURIComponent(found[at + 1])]),
      )) ??
    undefined
  );
}

async function answerOf(
  operation: Operation,
  call: {
    readonly params: Readonly<Record<string, string>>;
    readonly query: URLSearchParams;
    readonly fieldMask: string | undefined;
    readonly caller: Caller;
  },
): Promise<ComparedAnswer> {
  const { caller } = call;
  const { signal } = new AbortController();
  try {
    const answered = await operation.handle({
      ...call,
      uri: `${BASE}/v1${operation.path}`,
      parameters: new Map(),
      context: { caller, signal },
    });
    return { status: 200, text: await textOf(answered) };
  } catch (error) {
    const refusal = toApiError(error);
    if (!refusal) {
      throw error;
    }
    const { status, body } = refusal;
    const text = JSON.stringify({ ...body, request_id: '' });
    return { status, text: withoutServersOwn(text) };
  }
}

async function textOf(answered: unknown): Promise<string> {
  if (!(answered instanceof FileStream)) {
    return writeJson(answered).toString();
  }
  let text = '';
  for await (const chunk of answered.chunks) {
    text += chunk;
  }
  return text;
}
