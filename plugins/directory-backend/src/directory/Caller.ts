import type {
  BackstageCredentials,
  BackstageUserPrincipal,
} from '@backstage/backend-plugin-api';
import type { Principal } from './Principal';

/**
 * Who asks. Made by `http/authenticate.ts` and by nobody else.
 *
 * - `kerberos`: the holder of a ticket, found in the directory
 * - `portalUser`: a signed-in user of the portal; `account` is the directory's
 *   entry for them, where the administrator configured that mapping
 * - `portalService`: another backend plugin, without a directory identity
 */
export type Caller =
  | {
      readonly kind: 'kerberos';
      readonly principal: string;
      readonly account: Principal;
    }
  | {
      readonly kind: 'portalUser';
      readonly credentials: BackstageCredentials<BackstageUserPrincipal>;
      readonly account?: Principal;
    }
  | {
      readonly kind: 'portalService';
      readonly credentials: BackstageCredentials;
      readonly account?: undefined;
    };
