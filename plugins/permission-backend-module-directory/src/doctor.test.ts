import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import { doctorChecks } from './doctor';

function check(permission: JsonObject) {
  return doctorChecks[0].run({
    config: new ConfigReader({ permission: { enabled: true, ...permission } }),
    env: {},
    hasPackage: () => true,
    database: async () => undefined,
  });
}

it('reports what the policy allows', async () => {
  expect(
    await check({
      directory: {
        administrators: ['user:default/root'],
        rules: [{ permissions: ['example.run'], allow: ['everyone'] }],
      },
    }),
  ).toEqual({
    status: 'ok',
    message:
      'Guests: no permissions; users: catalog.entity.read, directory.certificate.sign, directory.group.read, directory.read, directory.user.read, example.run; administrators (user:default/root): all permissions that the policy knows',
  });
});

it('warns when guests are treated as users', async () => {
  const { status, fix } = await check({
    directory: { dangerouslyAllowGuests: true },
  });
  expect(status).toBe('warn');
  expect(fix?.join()).toMatch(/dangerouslyAllowGuests/);
});

it('fails when a key is invalid', async () => {
  const { status, message } = await check({
    directory: { administrators: ['alice'] },
  });
  expect(status).toBe('fail');
  expect(message).toContain('permission.directory.administrators');
});
