import { type Client, detectClient, suggestFixes } from './fixes';

const chrome =
  'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
const linux = 'Mozilla/5.0 (X11; Linux x86_64)';
const windows = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64)';
const mac = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)';

describe('detectClient', () => {
  it.each([
    [`${linux} ${chrome}`, ['Chromium'], 'chromium', 'linux'],
    [`${linux} ${chrome}`, ['Chromium', 'Google Chrome'], 'chrome', 'linux'],
    [`${linux} ${chrome}`, undefined, 'chrome', 'linux'],
    [
      `${windows} ${chrome} Edg/140.0.0.0`,
      ['Chromium', 'Microsoft Edge'],
      'edge',
      'windows',
    ],
    [`${mac} ${chrome}`, ['Chromium', 'Google Chrome'], 'chrome', 'macos'],
    [`${mac} ${chrome} OPR/120.0.0.0`, ['Chromium', 'Opera'], 'other', 'macos'],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0',
      undefined,
      'firefox',
      'windows',
    ],
    [
      `${mac} AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15`,
      undefined,
      'safari',
      'macos',
    ],
    [
      'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
      ['Google Chrome'],
      'chrome',
      'other',
    ],
    ['curl/8.0', undefined, 'other', 'other'],
  ])('detects %s with the brands %j', (userAgent, brands, browser, system) => {
    expect(
      detectClient({
        userAgent,
        userAgentData: brands && {
          brands: brands.map(brand => ({ brand })),
        },
      }),
    ).toEqual({ browser, system });
  });
});

describe('suggestFixes', () => {
  const noTicket = {
    kind: 'refused',
    reason: 'no_credentials',
    message: '',
  } as const;
  const fixes = (client: Client, failure: object = noTicket) =>
    suggestFixes({
      failure: { ...noTicket, ...failure },
      client,
      host: 'portal.example.org',
    }).map(({ kind, how, copyable }) =>
      how === 'allowHostFirefox' ? [how, copyable] : [kind, copyable],
    );

  it.each([
    [
      'chrome',
      'linux',
      /\/etc\/opt\/chrome\/policies\/managed\/kerberos\.json$/,
    ],
    [
      'chromium',
      'linux',
      /\/etc\/chromium\/policies\/managed\/kerberos\.json$/,
    ],
    ['edge', 'linux', /\/etc\/opt\/edge\/policies\/managed\/kerberos\.json$/],
    [
      'chrome',
      'macos',
      /^defaults write com\.google\.Chrome AuthServerAllowlist portal\.example\.org$/,
    ],
    ['edge', 'macos', /^defaults write com\.microsoft\.Edge /],
    [
      'chrome',
      'windows',
      /^reg add HKLM\\Software\\Policies\\Google\\Chrome \/v AuthServerAllowlist \/d portal\.example\.org$/,
    ],
    ['edge', 'windows', /^reg add HKLM\\Software\\Policies\\Microsoft\\Edge /],
  ] as const)(
    'returns the commands for %s on %s',
    (browser, system, command) => {
      expect(fixes({ browser, system })[1]).toEqual([
        'allowHost',
        expect.stringMatching(command),
      ]);
    },
  );

  it('returns a policy in JSON format', () => {
    const [, [, command]] = fixes({ browser: 'chrome', system: 'linux' });
    expect(JSON.parse(/echo '(.*)'/.exec(command ?? '')![1])).toEqual({
      AuthServerAllowlist: 'portal.example.org',
    });
  });

  it('returns no command for other browsers', () => {
    expect(fixes({ browser: 'firefox', system: 'windows' })).toEqual([
      ['ticket', undefined],
      ['allowHostFirefox', 'portal.example.org'],
    ]);
    expect(fixes({ browser: 'safari', system: 'macos' })).toEqual([
      ['ticket', 'kinit'],
    ]);
    expect(fixes({ browser: 'other', system: 'other' })).toEqual([
      ['ticket', undefined],
      ['allowHost', undefined],
    ]);
  });

  it.each([
    ['linux', 'sudo timedatectl set-ntp true', 'kdestroy; kinit'],
    ['macos', 'sudo sntp -sS time.apple.com', 'kdestroy; kinit'],
    ['windows', 'w32tm /resync', 'klist purge'],
    ['other', undefined, undefined],
  ] as const)('suggests setting the clock on %s', (system, clock, ticket) => {
    const failure = { reason: 'clock_skew', minutesAhead: -3 };
    expect(fixes({ browser: 'chrome', system }, failure)).toEqual([
      ['clock', clock],
      ['ticket', ticket],
    ]);
  });
});
