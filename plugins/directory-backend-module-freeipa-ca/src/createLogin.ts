import type { FreeIpaLoginConfig } from './FreeIpaConfig';
import { KerberosLogin } from './login/KerberosLogin';
import type { Login } from './rpc/Login';
import { PasswordLogin } from './login/PasswordLogin';

/**
 * The login that is configured.
 *
 * @throws Error when the process already gets tickets with another keytab.
 */
export function createLogin(config: FreeIpaLoginConfig): Login {
  return config.kind === 'kerberos'
    ? KerberosLogin.create(config)
    : new PasswordLogin(config);
}
