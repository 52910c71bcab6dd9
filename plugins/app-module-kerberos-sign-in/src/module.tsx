import { createFrontendModule } from '@backstage/frontend-plugin-api';
import { SignInPageBlueprint } from '@backstage/plugin-app-react';
import { z } from 'zod';

const signInPage = SignInPageBlueprint.makeWithOverrides({
  configSchema: {
    autoSignIn: z.boolean().default(true),
    realm: z.string().min(1).optional(),
    helpUrl: z.url({ protocol: /^https?$/ }).optional(),
  },
  factory(original, { config }) {
    return original({
      loader: async () => {
        const { KerberosSignInPage } =
          await import('./page/KerberosSignInPage');
        return props => <KerberosSignInPage {...props} {...config} />;
      },
    });
  },
});

/**
 * Replaces the app's sign-in page (`sign-in-page:app`) with one that signs in
 * users with a Kerberos ticket and shows instructions to other users.
 * Configuration: `autoSignIn` (boolean, default true; false waits for a click,
 * for sites whose browsers prompt for a password), `realm` (realm in the
 * `kinit` command) and `helpUrl` (URL of the site's help page).
 *
 * @public
 */
export const appModuleKerberosSignIn = createFrontendModule({
  pluginId: 'app',
  extensions: [signInPage],
});
