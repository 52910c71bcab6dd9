/**
 * Checks of the permission policy for `directory-doctor`.
 *
 * @packageDocumentation
 */
import {
  type DoctorCheck,
  finding,
} from '@directory-gateway/backstage-plugin-directory-node';
import { DirectoryPermissionPolicy } from './DirectoryPermissionPolicy';

/**
 * Checks of the permission policy for `directory-doctor`.
 *
 * @public
 */
export const doctorChecks: readonly DoctorCheck[] = [
  {
    id: 'permission-grants',
    after: ['permission-policy'],
    async run({ config }) {
      let grants;
      try {
        grants = DirectoryPermissionPolicy.fromConfig(config).grants();
      } catch (error) {
        return finding.fail(
          (error as Error).message,
          'correct the key; users and groups are entity references such as user:default/alice',
        );
      }
      const { everyone, administrators, guestsAreUsers } = grants;
      const users = `users: ${everyone.join(', ')}`;
      const others = `administrators (${
        administrators.join(', ') || 'none'
      }): all permissions that the policy knows`;
      return guestsAreUsers
        ? finding.warn(
            `Guests are treated as users (permission.directory.dangerouslyAllowGuests); ${users}; ${others}`,
            'remove permission.directory.dangerouslyAllowGuests, unless this portal is a demonstration on localhost',
          )
        : finding.ok(`Guests: no permissions; ${users}; ${others}`);
    },
  },
];
