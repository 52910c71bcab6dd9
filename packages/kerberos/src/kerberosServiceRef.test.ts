import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBackendPlugin } from '@backstage/backend-plugin-api';
import { mockServices, startTestBackend } from '@backstage/backend-test-utils';
import { KerberosService } from './KerberosService';
import { kerberosServiceRef } from './kerberosServiceRef';

const keytab = '/nonexistent/krb5.keytab';

/** Starts a backend with two plugins that use the service. */
async function boot(kerberos: object) {
  const logger = mockServices.rootLogger.mock({ child: () => logger });
  const services = new Array<KerberosService>();
  const plugin = (pluginId: string) =>
    createBackendPlugin({
      pluginId,
      register(reg) {
        reg.registerInit({
          deps: { kerberos: kerberosServiceRef },
          async init(deps) {
            services.push(deps.kerberos);
          },
        });
      },
    });
  const backend = await startTestBackend({
    features: [
      mockServices.rootConfig.factory({ data: { kerberos } }),
      logger.factory,
      plugin('one'),
      plugin('two'),
    ],
  });
  await backend.stop();
  return {
    services,
    warnings: logger.warn.mock.calls.map(([message]) => message),
  };
}

describe('kerberosServiceRef', () => {
  it('creates one service for all plugins and warns about the keytab', async () => {
    const { services, warnings } = await boot({ keytab });

    expect(services).toHaveLength(2);
    expect(services[0]).toBe(services[1]);
    expect(warnings).toEqual([
      expect.stringContaining(
        `The keytab ${keytab} (kerberos.keytab) does not exist`,
      ),
    ]);
    expect(await services[0].accept('Bearer x')).toMatchObject({
      outcome: 'refused',
      reason: 'no_credentials',
    });
  });

  it('rejects an invalid configuration at start', async () => {
    await expect(boot({ keytab, realm: 'a@B' })).rejects.toThrow(
      /kerberos\.realm must be a name/,
    );
    delete process.env.KRB5_KTNAME;
    const folder = await mkdtemp(join(tmpdir(), 'keytab-'));
    const readable = join(folder, 'krb5.keytab');
    await writeFile(readable, '', { mode: 0o644 });
    await expect(boot({ keytab: readable })).rejects.toThrow(
      `kerberos.keytab: ${readable} is accessible to other users (mode 0644)`,
    );
    await rm(folder, { recursive: true });
    await expect(boot({ keytab: '/another/keytab' })).rejects.toThrow(
      /kerberos\.keytab is \/another\/keytab, but KRB5_KTNAME/,
    );
  });
});
