import { ConfigReader } from '@backstage/config';
import { TrustedLocations } from './TrustedLocations';

function read(trustedLocations?: unknown, catalog?: object) {
  const config = new ConfigReader({
    directory: { ...(trustedLocations !== undefined && { trustedLocations }) },
    ...(catalog && { catalog }),
  } as never);
  return { config, trusted: TrustedLocations.fromConfig(config) };
}

function entityFrom(origin?: string, location = origin) {
  return {
    apiVersion: 'backstage.io/v1alpha1',
    kind: 'User',
    metadata: {
      name: 'alice',
      annotations: {
        ...(location && { 'backstage.io/managed-by-location': location }),
        ...(origin && { 'backstage.io/managed-by-origin-location': origin }),
      },
    },
  };
}

describe('TrustedLocations', () => {
  it.each([
    ['file:/etc/portal/org.yaml', true],
    ['file:/etc/portal/org.yaml.bak', false],
    ['file:/etc/portal/ORG.yaml', false],
    [`file:${process.cwd()}/org.yaml`, true],
    ['url:https://git.test/org/users.yaml', true],
    ['url:https://git.test/org/users.yaml?x', false],
    ['url:https://evil.test/org/users.yaml', false],
    ['directory:default/alice', true],
    ['directory:default', false],
    ['directory:other/alice', false],
    ['msgraph:default/alice', true],
    ['url:ldap://default/uid=alice', true],
    ['url:ldap://other/uid=alice', false],
    [undefined, false],
  ])(
    'decides whether an entity from %s is included: %s',
    (origin, expected) => {
      const { trusted } = read([
        'file:/etc/portal/org.yaml',
        'file:org.yaml',
        'url:https://git.test/org/users.yaml',
        'directory:default/*',
        'msgraph:*',
        'url:ldap://default/*',
      ]);
      expect(trusted.includes(entityFrom(origin))).toBe(expected);
    },
  );

  it('does not include entities from locations that a trusted location refers to', () => {
    const [org, team] = ['org', 'team'].map(
      name => `url:https://git.test/${name}.yaml`,
    );
    expect(read([org]).trusted.includes(entityFrom(org, team))).toBe(false);
    expect(read([team]).trusted.includes(entityFrom(org, team))).toBe(false);
    expect(read([org, team]).trusted.includes(entityFrom(org, team))).toBe(
      true,
    );
  });

  it('includes nothing by default', () => {
    const { trusted } = read();
    expect(trusted.isEmpty).toBe(true);
    expect(trusted.includes(entityFrom('file:/etc/portal/org.yaml'))).toBe(
      false,
    );
  });

  it.each([
    '*',
    'url:*',
    'url:https://git.test/*',
    'URL:http://git.test/*',
    'file:/etc/*',
    'url:file:*',
    'directory*',
    'directory:d*',
    'org.yaml',
  ])('refuses the trusted location %s', location => {
    expect(() => read([location])).toThrow(
      `directory.trustedLocations: "${location}"`,
    );
  });

  describe('requireForAnnotations', () => {
    const FILE = ['file:/etc/portal/org.yaml'];
    const usedBy = 'directory.portalUsers.username';

    it('requires trusted locations', () => {
      const { trusted, config } = read();
      expect(() => trusted.requireForAnnotations({ config, usedBy })).toThrow(
        /directory\.portalUsers\.username .* directory\.trustedLocations is not set\. List/,
      );
    });

    it.each<[string, object[]]>([
      ['every location', [{ allow: ['Component', 'User'] }]],
      ['every location, in capitals', [{ allow: ['USER'] }]],
      [
        'every location, in a second rule',
        [{ allow: [] }, { allow: ['user'] }],
      ],
      [
        'every location, with a type',
        [{ allow: [{ kind: 'user', 'spec.type': 'x' }] }],
      ],
      ['every URL', [{ allow: ['User'], locations: [{ type: 'url' }] }]],
      [
        'every URL, with a pattern',
        [{ allow: ['User'], locations: [{ type: 'url', pattern: '**' }] }],
      ],
      [
        'URLs of every host',
        [
          {
            allow: ['User'],
            locations: [
              { type: 'file' },
              { type: 'url', pattern: 'https://*/org/**' },
            ],
          },
        ],
      ],
    ])('refuses rules that allow users from %s', (_what, rules) => {
      const { trusted, config } = read(FILE, { rules });
      expect(() => trusted.requireForAnnotations({ config, usedBy })).toThrow(
        /directory\.portalUsers\.username .* catalog\.rules\[\d\] allows User .* Remove User .*directory\.trustedLocations/,
      );
    });

    it.each<[string, object | undefined]>([
      ['by default', undefined],
      ['for no location', { rules: [{ allow: ['User'], locations: [] }] }],
      [
        'for one URL',
        {
          rules: [
            {
              allow: ['User'],
              locations: [{ type: 'url', exact: 'https://git.test/org.yaml' }],
            },
          ],
        },
      ],
      [
        'for one host',
        {
          rules: [
            {
              allow: ['User'],
              locations: [{ type: 'url', pattern: 'https://git.test/**' }],
            },
          ],
        },
      ],
      [
        'for a configured location',
        {
          rules: [{ allow: ['Component', 'Group'] }],
          locations: [
            {
              type: 'file',
              target: '/etc/portal/org.yaml',
              rules: [{ allow: ['User'] }],
            },
          ],
        },
      ],
    ])('accepts users %s', (_what, catalog) => {
      const { trusted, config } = read(FILE, catalog);
      expect(() =>
        trusted.requireForAnnotations({ config, usedBy }),
      ).not.toThrow();
    });
  });
});
