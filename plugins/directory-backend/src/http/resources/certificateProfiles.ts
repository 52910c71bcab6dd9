import { directoryCertificateSignPermission } from '@directory-gateway/backstage-plugin-directory-common';
import type { CertificateAuthority } from '@directory-gateway/backstage-plugin-directory-node';
import { isOpenTo } from '../../certificates/CertificateProfile';
import type { CertificatesConfig } from '../../certificates/CertificatesConfig';
import type { Operation } from '../api/Operation';
import { resolveFields } from '../response/fieldMask';
import { requireAccount } from '../api/requireAccount';
import { presentProfile, profileModel } from './presentProfile';

/** An extension: the certificate profiles that are open to the caller. */
export function certificateProfilesOperation(options: {
  readonly authority: Pick<CertificateAuthority, 'profiles'>;
  readonly config: CertificatesConfig;
}): Operation {
  const { authority, config } = options;
  return {
    id: 'list_certificate_profiles',
    method: 'get',
    path: '/certs/profiles/',
    permission: directoryCertificateSignPermission,
    async handle({ caller, fieldMask }) {
      const keys = resolveFields(fieldMask, profileModel);
      const account = requireAccount(caller);
      const open = [...config.profiles.values()].filter(profile =>
        isOpenTo(profile, account),
      );
      return {
        result: open.map(profile =>
          presentProfile(profile, {
            keys,
            known: authority.profiles?.get(profile.name),
            isDefault: profile.name === config.defaultProfile,
          }),
        ),
      };
    },
  };
}
