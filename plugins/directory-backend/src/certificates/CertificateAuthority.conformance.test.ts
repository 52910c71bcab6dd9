import {
  AuthorityRefusalError,
  AuthorityUnavailableError,
  type CertificateAuthority,
} from '@directory-gateway/backstage-plugin-directory-node';
import { describeCertificateAuthority } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { PermissiveAuthority } from '../__testUtils__/certificates/PermissiveAuthority';

/** Runs the suite with a CA that has these methods. */
function describeAuthority(
  name: string,
  methods: readonly ('get' | 'hold' | 'release' | 'revoke')[],
  options: { readonly choosesSerialNumbers: boolean },
): void {
  describeCertificateAuthority({
    name,
    async create() {
      const permissive = new PermissiveAuthority();
      permissive.choosesSerialNumbers = options.choosesSerialNumbers;
      let isAvailable = true;
      const reached = async <T>(work: () => Promise<T>): Promise<T> => {
        if (!isAvailable) {
          throw new AuthorityUnavailableError('Interrupted');
        }
        return await work();
      };
      const authority: CertificateAuthority = {
        ...options,
        cacn: permissive.cacn,
        sign: request =>
          reached(async () => {
            if (request.profile !== 'userCerts') {
              throw new AuthorityRefusalError('There is no such profile');
            }
            return await permissive.sign(request);
          }),
        ...Object.fromEntries(
          methods.map(method => [
            method,
            (request: never) =>
              reached<unknown>(() => permissive[method](request)),
          ]),
        ),
      };
      return {
        authority,
        user: { username: 'alice', principal: 'alice@EXAMPLE.TEST' },
        profile: 'userCerts',
        cacn: 'permissive',
        async interrupt() {
          isAvailable = false;
          return async () => {
            isAvailable = true;
          };
        },
        async stop() {},
      };
    },
  });
}

describeAuthority(
  'A CA with all methods',
  ['get', 'hold', 'release', 'revoke'],
  {
    choosesSerialNumbers: true,
  },
);

describeAuthority('A CA that only revokes', ['revoke'], {
  choosesSerialNumbers: true,
});

describeAuthority('A CA that only signs', [], { choosesSerialNumbers: false });
