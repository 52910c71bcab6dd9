import { createFetchApi, FetchMiddlewares } from '@backstage/core-app-api';
import {
  ApiBlueprint,
  coreApis,
  createFrontendModule,
} from '@backstage/frontend-plugin-api';
import { SignInPageBlueprint } from '@backstage/plugin-app-react';
import { z } from 'zod';
import { renewSession, signedInApiRef } from './session/PortalIdentity';

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

const signedInApi = ApiBlueprint.make({
  name: 'kerberos-signed-in',
  params: defineParams =>
    defineParams({ api: signedInApiRef, deps: {}, factory: () => ({}) }),
});

/** The fetch API of Backstage, which also repeats requests to `directory`. */
const fetchApi = ApiBlueprint.make({
  name: 'fetch',
  params: defineParams =>
    defineParams({
      api: coreApis.fetch,
      deps: {
        config: coreApis.config,
        discoveryApi: coreApis.discovery,
        identityApi: coreApis.identity,
        signedIn: signedInApiRef,
      },
      factory: ({ config, discoveryApi, identityApi, signedIn }) =>
        createFetchApi({
          middleware: [
            renewSession(signedIn),
            FetchMiddlewares.resolvePluginProtocol({ discoveryApi }),
            FetchMiddlewares.injectIdentityAuth({ identityApi, config }),
          ],
        }),
    }),
});

/**
 * Replaces the app's sign-in page (`sign-in-page:app`) with one that signs in
 * users with a Kerberos ticket and shows instructions to other users.
 * Configuration: `autoSignIn` (boolean, default true; false waits for a click,
 * for sites whose browsers prompt for a password), `realm` (realm in the
 * `kinit` command) and `helpUrl` (URL of the site's help page). Also replaces
 * the app's fetch API (`api:app/fetch`) with one that renews the session and
 * repeats a request when the plugin `directory` refuses the token.
 *
 * @public
 */
export const appModuleKerberosSignIn = createFrontendModule({
  pluginId: 'app',
  extensions: [signInPage, signedInApi, fetchApi],
});
