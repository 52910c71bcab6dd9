import type {
  ErrorBody,
  MaskedCertificate,
  Membership,
  User,
} from '@directory-gateway/backstage-plugin-directory-common';
import { http, HttpResponse, type JsonBodyType } from 'msw';
import { setupServer } from 'msw/node';
import type { OperationName, OperationsResult } from '../api/useDirectoryQuery';

const BASE = 'http://localhost:7007/api/directory/v1';

/** A request to the test server. */
interface RecordedRequest {
  path: string;
  query: URLSearchParams;
}

type ApiResponse = JsonBodyType | Response;

const NO_OPERATIONS: OperationsResult = {
  operations: [],
  signs_for_others: false,
  certificate_authority: null,
  hidden_fields: [],
};

/**
 * Mock server for the `/v1/` API in page tests. Paths are relative to the base
 * path; requests with a response from the test are recorded. By default, the
 * user has no identity in the directory and no operations.
 */
export class FakeDirectoryApi {
  readonly msw = setupServer(
    http.get(`${BASE}/me/`, () => withoutIdentity()),
    http.get(`${BASE}/me/operations/`, () =>
      HttpResponse.json({ result: NO_OPERATIONS } as JsonBodyType),
    ),
  );
  readonly requests: RecordedRequest[] = [];

  /** Sets the response of a path (in msw's notation) until the end of the test. */
  on(
    path: string,
    respond: (request: RecordedRequest) => ApiResponse | Promise<ApiResponse>,
  ) {
    this.msw.use(
      http.get(`${BASE}${path}`, async ({ request }) => {
        const { pathname, searchParams } = new URL(request.url);
        const recorded = {
          path: pathname.replace('/api/directory/v1', ''),
          query: searchParams,
        };
        this.requests.push(recorded);
        const body = await respond(recorded);
        return body instanceof Response ? body : HttpResponse.json(body);
      }),
    );
  }

  /** Adds a user with empty lists for the tabs of the page. */
  hasPerson(
    person: User,
    given: {
      memberships?: Membership[];
      sponsored?: string[];
      agreements?: string[];
      certificates?: MaskedCertificate[];
    } = {},
  ) {
    const { memberships = [], sponsored = [] } = given;
    const { agreements = [], certificates = [] } = given;
    const path = `/users/${person.username}`;
    this.on(`${path}/`, () => ({ result: person }));
    this.on(`${path}/memberships/`, () => pageOf(memberships));
    this.on(`${path}/sponsored-groups/`, () =>
      pageOf(sponsored.map(groupname => ({ groupname, uri: '' }))),
    );
    this.on(`${path}/agreements/`, () =>
      pageOf(agreements.map(name => ({ name }))),
    );
    this.on(`${path}/certificates/`, () =>
      // JSON has no bigint; the API writes exact integers.
      pageOf(
        certificates.map(one => ({
          ...one,
          serial_number: Number(one.serial_number),
        })),
      ),
    );
  }

  /** Allows the user only these operations. */
  allows(...operations: readonly OperationName[]) {
    this.allowsWith({ can_revoke: true, can_hold: true }, ...operations);
  }

  /** Allows the user only these operations, with a CA that can do these. */
  allowsWith(
    authority: OperationsResult['certificate_authority'],
    ...operations: readonly OperationName[]
  ) {
    this.#hasOperations({
      operations: [...operations],
      certificate_authority: authority,
    });
  }

  /** Hides these fields of private profiles, and allows no operations. */
  hides(...fields: readonly (keyof User)[]) {
    this.#hasOperations({ hidden_fields: [...fields] });
  }

  #hasOperations(result: Partial<OperationsResult>) {
    this.on('/me/operations/', () => ({
      result: { ...NO_OPERATIONS, ...result },
    }));
  }

  /** Sets the current user's name; `/me/` returns 403 without one. */
  hasCurrentUser(username: string | undefined) {
    this.on('/me/', () =>
      username
        ? {
            result: { dn: `uid=${username}`, username, service: null, uri: '' },
          }
        : withoutIdentity(),
    );
  }
}

function withoutIdentity() {
  return failure(403, { message: 'You have no identity in the directory' });
}

/** List response, or one page of a longer list. */
export function pageOf<Item extends JsonBodyType>(
  items: Item[],
  total = items.length,
) {
  return { result: items, page: 1, page_size: 24, total_results: total };
}

/** API error response. */
export function failure(
  status: number,
  body: Partial<ErrorBody> & { message: string },
  headers: Record<string, string> = {},
): Response {
  return HttpResponse.json(
    { request_id: 'test-request', ...body } as JsonBodyType,
    { status, headers },
  );
}
