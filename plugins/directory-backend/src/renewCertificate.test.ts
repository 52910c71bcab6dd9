import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

const RENEW = resolve(__dirname, '../bin/directory-renew-certificate');

describe('directory-renew-certificate', () => {
  it.each([
    ['https://portal.example.test', true],
    ['http://localhost:7007', true],
    ['http://127.0.0.1', true],
    ['http://[::1]:7007', true],
    ['http://portal.example.test', false],
    ['http://localhost.example.test', false],
    ['http://localhost:1@portal.example.test', false],
    ['ftp://localhost', false],
  ])('accepts --url=%s: %s', (url, isAccepted) => {
    const { stderr } = spawnSync(
      RENEW,
      [`--url=${url}`, '--cert=missing', '--key=missing'],
      { encoding: 'utf8' },
    );
    expect(stderr).toContain(isAccepted ? 'missing and missing are' : '--url:');
  });
});
