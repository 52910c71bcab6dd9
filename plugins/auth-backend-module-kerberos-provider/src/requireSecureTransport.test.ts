import { requireSecureTransport } from './module';

describe('requireSecureTransport', () => {
  it.each([
    'https://portal.example.org/api/auth',
    'http://localhost:7007/api/auth',
    'http://127.0.0.1:7007',
    'http://[::1]:7007',
  ])('lets %s pass', url => {
    expect(() => requireSecureTransport(url)).not.toThrow();
  });

  it.each([
    'http://portal.example.org/api/auth',
    'http://localhost.example.org',
    'http://127.0.0.1.example.org',
    'ftp://localhost',
  ])('names the key when it is %s', url => {
    expect(() => requireSecureTransport(url)).toThrow(/backend\.baseUrl/);
  });
});
