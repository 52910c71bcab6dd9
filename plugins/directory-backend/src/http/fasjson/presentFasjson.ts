import { isError } from '@backstage/errors';
import type { AuthorityRefusalError } from '@directory-gateway/backstage-plugin-directory-node';
import {
  type Page,
  type PageRequest,
  type User,
  type UserField,
  userFields,
} from '@directory-gateway/directory-core';
import type { SigningRefusedError } from '../../certificates/errors';
import {
  type ErrorResponse,
  InvalidRequestError,
  toApiError,
} from '../../apiErrors';
import type { RecordModel } from '../response/fieldMask';
import {
  memberModel,
  presentRecord,
  userFieldsFor,
  userModel,
} from '../response/presentRecords';
import type { ResourceUris } from '../response/ResourceUris';
import type { UserCertificate } from '../../certificates/UserCertificates';
import {
  certificateModel,
  presentCertificate,
} from '../response/presentCertificate';
import type { Call } from '../api/Operation';
import { parsePythonInteger } from './parseFasjsonPage';
import { rawInteger } from '../response/json';

/** Error codes of FreeIPA (`ipalib/errors.py`), which FASJSON returns. */
const NOT_FOUND = 4001;
const VALIDATION = 3009;
const ACI = 2100;

/** Denied signing requests, for which FASJSON returns FreeIPA's RPC errors. */
const presenters: Readonly<
  Record<string, ((error: Error) => ErrorResponse) | undefined>
> = {
  SigningRefusedError: error => {
    const { rule, denial, message } = (error as SigningRefusedError).failedRule;
    const invalid = rule === 'principal' ? NOT_FOUND : VALIDATION;
    return fromFreeIpa(message, denial === 'forbidden' ? ACI : invalid);
  },
  AuthorityRefusalError: error => {
    const { kind, message } = error as AuthorityRefusalError;
    return fromFreeIpa(message, kind === 'forbidden' ? ACI : VALIDATION);
  },
};

/** Messages of FASJSON that differ from the contract's. */
const MESSAGES: Readonly<Record<string, string | undefined>> = {
  UnauthorizedError:
    "The server could not verify that you are authorized to access the URL requested. You either supplied the wrong credentials (e.g. a bad password), or your browser doesn't understand how to supply the credentials required.",
  UnknownPathError:
    'The requested URL was not found on the server. If you entered the URL manually please check your spelling and try again.',
};

/** The response of FASJSON to an error. */
export function presentFasjsonError(error: unknown): ErrorResponse | undefined {
  const present = isError(error) ? presenters[error.name] : undefined;
  if (present) {
    return present(error as Error);
  }
  const apiError = toApiError(error);
  if (!apiError) {
    return undefined;
  }
  const { status, headers, body } = apiError;
  return {
    status,
    headers,
    body: {
      ...body,
      message: MESSAGES[apiError.name] ?? body.message,
    },
  };
}

function fromFreeIpa(message: string, code: number): ErrorResponse {
  return new InvalidRequestError({ message, code, source: 'RPC' });
}

/** Deprecated fields, which contain the first value of a list. */
const SINGULAR = { website: 'websites', rssurl: 'rssurls' } as const;

/** Keys of a user in the order of FASJSON. */
export const fasjsonUserModel = withSingulars(userModel);

/** Like `memberModel`, with the keys of FASJSON. */
export const fasjsonMemberModel: RecordModel = {
  ...fasjsonUserModel,
  defaults: memberModel.defaults,
};

/** Like `userFieldsFor`, for the keys of FASJSON. */
export function fasjsonUserFieldsFor(
  keys: readonly string[],
): ReadonlySet<UserField> {
  return userFieldsFor(
    keys.map(key => (isSingular(key) ? SINGULAR[key] : key)),
  );
}

/** A user record of FASJSON. */
export function presentFasjsonUser(
  user: User,
  keys: readonly string[],
  uris: ResourceUris,
): Record<string, unknown> {
  return presentRecord(user, {
    keys,
    fields: userFields,
    uri: uris.user(user.username),
    overrides: {
      locked: user.locked ?? false,
      website: user.websites?.[0] ?? null,
      rssurl: user.rssurls?.[0] ?? null,
    },
  });
}

/**
 * Returns a member or sponsor as FASJSON does: `locked` is null, because FASJSON
 * does not read it.
 */
export function presentFasjsonMember(
  user: User,
  keys: readonly string[],
  uris: ResourceUris,
): Record<string, unknown> {
  const record = presentFasjsonUser(user, keys, uris);
  return 'locked' in record ? { ...record, locked: null } : record;
}

function isSingular(key: string): key is keyof typeof SINGULAR {
  return Object.hasOwn(SINGULAR, key);
}

function withSingulars(model: RecordModel): RecordModel {
  const at = model.keys.indexOf(SINGULAR.website);
  return {
    ...model,
    keys: [
      ...model.keys.slice(0, at),
      ...Object.keys(SINGULAR),
      ...model.keys.slice(at),
    ],
  };
}

/** Fields that FASJSON does not have. */
const OMITTED: ReadonlySet<string> = new Set([
  'san_rfc822name',
  'san_dnsname',
  'san_uri',
  'san_ipaddress',
  'san_directoryname',
  'san_oid',
  'owner_user',
  'revocation_reason',
  'label',
]);

/** Keys of a certificate, in FASJSON's order. */
export const fasjsonCertificateModel: RecordModel = {
  lists: certificateModel.lists,
  keys: certificateModel.keys.filter(key => !OMITTED.has(key)),
};

/**
 * A certificate record of FASJSON: base64 on one line, and `revoked` is null for
 * a new certificate, whose state FreeIPA does not return.
 */
export function presentFasjsonCertificate(
  issued: UserCertificate,
  options: {
    readonly keys: readonly string[];
    readonly isNew: boolean;
    readonly uris: ResourceUris;
  },
): Record<string, unknown> {
  const { keys, isNew, uris } = options;
  const record = presentCertificate(issued, keys, uris);
  return {
    ...record,
    ...('certificate' in record && {
      certificate: issued.certificate.der.toString('base64'),
    }),
    ...('revoked' in record && isNew && { revoked: null }),
  };
}

/**
 * Presents a list as FASJSON does, with an object `page` only if it is
 * paginated. `next_page` keeps every parameter.
 */
export function presentFasjsonPage(
  shown: Page<unknown>,
  options: {
    readonly page: PageRequest | undefined;
    readonly call: Pick<Call, 'uri' | 'query'>;
  },
): unknown {
  const { page, call } = options;
  if (!page) {
    return { result: shown.items };
  }
  const totalPages = Math.ceil(shown.total / page.size);
  return {
    result: shown.items,
    page: {
      total_results: shown.total,
      page_size: exactly('page_size', page.size, call),
      page_number: exactly('page_number', page.number, call),
      total_pages: totalPages,
      ...(page.number < totalPages && { next_page: nextPage(page, call) }),
    },
  };
}

/** Returns the requested number exactly, even beyond safe integers. */
function exactly(
  name: 'page_size' | 'page_number',
  value: number,
  { query }: Pick<Call, 'query'>,
): unknown {
  return rawInteger(parsePythonInteger(query.get(name)) ?? BigInt(value));
}

function nextPage(
  page: PageRequest,
  { uri, query }: Pick<Call, 'uri' | 'query'>,
): string {
  const next = new URLSearchParams(query);
  next.delete('page_size');
  next.delete('page_number');
  next.append('page_size', String(page.size));
  next.append('page_number', String(page.number + 1));
  return `${uri}?${next}`;
}
