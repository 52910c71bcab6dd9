import {
  AuthorityProtocolError,
  AuthorityRefusalError,
  AuthorityUnavailableError,
  type CertificateAuthority,
  OutcomeUnknownError,
} from '@directory-gateway/backstage-plugin-directory-node';
import { metrics } from '@opentelemetry/api';
import { measureAuthority } from './measureAuthority';

/** Measures a CA; `recorded` has the attributes of each duration. */
function measured(methods: Partial<CertificateAuthority>) {
  const recorded = new Array<object>();
  const createHistogram = jest.fn(() => ({
    record: (_seconds: number, attributes: object) => recorded.push(attributes),
  }));
  jest.spyOn(metrics, 'getMeter').mockReturnValue({ createHistogram } as never);
  const authority = { cacn: 'ipa', sign: async () => ({}), ...methods };
  return {
    authority: measureAuthority('freeipa', authority as CertificateAuthority),
    recorded,
  };
}

describe('measureAuthority', () => {
  it('passes parameters and results, and has only the methods of the CA', async () => {
    const get = jest.fn(async () => undefined);
    const keyTypes = new Set(['rsa' as const]);
    const { authority, recorded } = measured({
      get,
      release: async () => undefined,
      keyTypes,
    });
    const options = { forRevocation: true };
    expect(await authority.get!(5n, options)).toBe(undefined);
    expect(get).toHaveBeenCalledWith(5n, options);
    await authority.release!(5n);
    await authority.sign({} as never);
    expect(authority).toMatchObject({ cacn: 'ipa', keyTypes });
    expect([authority.hold, authority.revoke]).toEqual([undefined, undefined]);
    expect(recorded).toEqual([
      { authority: 'freeipa', operation: 'get', outcome: 'not_found' },
      { authority: 'freeipa', operation: 'release', outcome: 'success' },
      { authority: 'freeipa', operation: 'sign', outcome: 'success' },
    ]);
  });

  it.each([
    [new AuthorityRefusalError('alice'), 'refused'],
    [new AuthorityUnavailableError('down'), 'unavailable'],
    [new OutcomeUnknownError('lost'), 'outcome_unknown'],
    [new AuthorityProtocolError('invalid'), 'protocol_error'],
    [new DOMException('The client disconnected', 'AbortError'), 'aborted'],
    [new Error('bug'), 'error'],
  ])('records and rethrows %s as %s', async (error, outcome) => {
    const { authority, recorded } = measured({
      sign: () => Promise.reject(error),
    });
    await expect(authority.sign({} as never)).rejects.toBe(error);
    expect(recorded).toEqual([
      { authority: 'freeipa', operation: 'sign', outcome },
    ]);
  });
});
