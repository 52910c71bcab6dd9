import { registerMswTestHooks } from '@backstage/frontend-test-utils';
import type { CertificateProfile } from '@directory-gateway/backstage-plugin-directory-common';
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http } from 'msw';
import { webcrypto } from 'node:crypto';
import { CryptoEngine, setEngine } from 'pkijs';
import { aCertificate, exactJson } from '../../__testUtils__/certificates';
import { DirectoryServer, failure } from '../../__testUtils__/DirectoryServer';
import { renderDirectory } from '../../__testUtils__/renderDirectory';
import { makeRequest } from '../key/makeRequest';

const server = new DirectoryServer();
registerMswTestHooks(server.msw);

const rule = (name: string, passed: boolean | null) => ({
  rule: name,
  passed,
  message: passed === false ? 'The CN must be the user name.' : 'It is so.',
});

/** What was sent to be checked or signed. */
let sent: Record<string, string>[];

/** What was handed to the downloads, by file name. */
let saved: Map<string, Blob>;

function signs(options: { verdict?: boolean; refuses?: boolean } = {}) {
  const { verdict = true, refuses = false } = options;
  server.msw.use(
    http.post('http://localhost:7007/api/directory/v1/certs/', async call => {
      const body = (await call.request.json()) as Record<string, string>;
      sent.push(body);
      if (body.dry_run) {
        return exactJson({
          result: {
            would_sign: verdict,
            rules: [
              rule('principal', true),
              rule('common_name', verdict),
              rule('other_name', verdict || null),
            ],
          },
        });
      }
      return refuses
        ? failure(400, { message: 'The authority refuses' })
        : exactJson({ result: aCertificate() });
    }),
  );
}

/** What the reader may choose from. */
function offers(profiles: readonly CertificateProfile[]) {
  server.on('/certs/profiles/', () => ({ result: [...profiles] }));
}

const aProfile = (given: Partial<CertificateProfile> = {}) => ({
  name: 'userCerts',
  purpose: null,
  lifetime: 'P30D',
  extended_key_usage: ['clientAuth'],
  is_default: true,
  ...given,
});

async function openKeyStep() {
  const user = userEvent.setup();
  renderDirectory('/directory/certificates/request');
  await user.click(await screen.findByRole('button', { name: 'Continue' }));
  await screen.findByRole('heading', { name: 'Whose key?' });
  return user;
}

beforeAll(() => {
  // jsdom has no cryptography; a browser on a secure page has this one.
  Object.defineProperty(globalThis.crypto, 'subtle', {
    value: webcrypto.subtle,
    configurable: true,
  });
  const crypto = webcrypto as Crypto;
  setEngine('node', new CryptoEngine({ name: 'node', crypto }));
  Object.defineProperty(window, 'isSecureContext', { value: true });
});

beforeEach(() => {
  sent = [];
  saved = new Map();
  server.hasReader('alice');
  server.allows('directory.certificate.sign');
  offers([aProfile()]);
  const blobs: Blob[] = [];
  URL.createObjectURL = blob => `blob:${blobs.push(blob as Blob) - 1}`;
  URL.revokeObjectURL = () => undefined;
  jest
    .spyOn(HTMLAnchorElement.prototype, 'click')
    .mockImplementation(function click(this: HTMLAnchorElement) {
      saved.set(this.download, blobs[Number(this.href.slice(5))]);
    });
});

afterEach(() => jest.restoreAllMocks());

describe('what it is for', () => {
  it('is chosen among what the reader may use, the default first', async () => {
    offers([
      aProfile({ name: 'mail', purpose: 'Mail', is_default: false }),
      aProfile(),
      aProfile({
        name: 'caIPA',
        lifetime: null,
        extended_key_usage: null,
        is_default: false,
      }),
    ]);
    signs();
    const user = userEvent.setup();
    renderDirectory('/directory/certificates/request');
    expect(
      await screen.findByRole('radio', {
        name: 'Signing in to servers and web sites',
        description: 'Lasts 30 days · Profile userCerts',
      }),
    ).toBeChecked();
    expect(
      screen.getByRole('radio', {
        name: 'caIPA',
        description: 'Profile caIPA',
      }),
    ).toBeVisible();
    await user.click(
      screen.getByRole('radio', {
        name: 'Mail',
        description:
          'Lasts 30 days · Signing in to servers and web sites · Profile mail',
      }),
    );
    await user.click(screen.getByRole('button', { name: 'Continue' }));
    await user.click(await screen.findByRole('button', { name: 'Continue' }));
    await screen.findByText(/Nothing has been signed yet/);
    expect(sent).toMatchObject([{ profile: 'mail' }]);
  });

  it('is not asked of users who may not request certificates', async () => {
    server.allows('directory.read', 'directory.certificate.revoke');
    renderDirectory('/directory/certificates/request');
    expect(
      await screen.findByText('You may not request certificates'),
    ).toBeVisible();
    expect(screen.queryByRole('button', { name: 'Continue' })).toBeNull();
  });

  it('is not asked before the operations of the user are known', async () => {
    server.on('/me/operations/', () => failure(503, { message: 'Away' }));
    renderDirectory('/directory/certificates/request');
    expect(
      await screen.findByRole('button', { name: 'Try again' }),
    ).toBeVisible();
    expect(screen.queryByRole('button', { name: 'Continue' })).toBeNull();
  });

  it('says when there is nothing for the reader', async () => {
    offers([]);
    renderDirectory('/directory/certificates/request');
    expect(
      await screen.findByText('There is no certificate for you to request'),
    ).toBeVisible();
  });
});

describe('a request with a key that is made here', () => {
  it('sends the request and never the key, which is saved and forgotten', async () => {
    signs();
    const user = await openKeyStep();
    await user.click(screen.getByRole('button', { name: 'Continue' }));

    const sign = await screen.findByRole('button', { name: 'Sign it' });
    expect(
      await screen.findByText('Every rule holds. Nothing has been signed yet.'),
    ).toBeVisible();
    await user.click(sign);
    expect(
      await screen.findByRole('heading', { name: 'Here is your certificate' }),
    ).toHaveFocus();
    expect(screen.getByText(/Save it now/)).toBeVisible();

    const { csr } = sent[0];
    expect(csr).toMatch(/^-----BEGIN CERTIFICATE REQUEST-----\n/);
    expect(sent).toEqual([
      { user: 'alice', csr, profile: 'userCerts', dry_run: 'true' },
      { user: 'alice', csr, profile: 'userCerts' },
    ]);

    await user.click(
      screen.getByRole('button', { name: 'Download key and certificate' }),
    );
    expect(await screen.findByText(/handed to your downloads/)).toBeVisible();
    const pem = await saved.get('alice.pem')!.text();
    const key = /PRIVATE KEY-----\n([^-]+)\n-----END/.exec(pem)![1];
    for (const line of key.split('\n').slice(1)) {
      expect(
        JSON.stringify([sent, localStorage, sessionStorage]),
      ).not.toContain(line);
    }
  });

  it('asks before an unsaved key is left behind', async () => {
    signs();
    const user = await openKeyStep();
    await user.click(screen.getByRole('button', { name: 'Continue' }));
    await screen.findByText(/Nothing has been signed yet/);
    await user.click(screen.getByRole('button', { name: 'Sign it' }));
    jest.mocked(HTMLAnchorElement.prototype.click).mockRestore();

    await user.click(await screen.findByRole('link', { name: 'Details' }));
    const question = await screen.findByRole('dialog');
    expect(question).toHaveTextContent('Leave without the key?');
    await user.click(
      within(question).getByRole('button', { name: 'Stay here' }),
    );
    expect(
      screen.getByRole('heading', { name: 'Here is your certificate' }),
    ).toBeVisible();
    window.history.back();
    await user.click(
      within(await screen.findByRole('dialog')).getByRole('button', {
        name: 'Stay here',
      }),
    );
    const closing = new Event('beforeunload', { cancelable: true });
    window.dispatchEvent(closing);
    expect(closing.defaultPrevented).toBe(true);
  });

  it('locks a PKCS#12 with a good passphrase only', async () => {
    signs();
    const user = await openKeyStep();
    await user.click(screen.getByRole('button', { name: 'Continue' }));
    await screen.findByText(/Nothing has been signed yet/);
    await user.click(screen.getByRole('button', { name: 'Sign it' }));

    const field = await screen.findByLabelText('Passphrase');
    const button = screen.getByRole('button', { name: 'Download PKCS#12' });
    await user.type(field, 'pässphrase');
    expect(button).toBeDisabled();
    await user.clear(field);
    await user.type(field, 'long enough');
    await user.click(button);
    await waitFor(
      () => expect(saved.get('alice.p12')?.size).toBeGreaterThan(0),
      {
        timeout: 30_000,
      },
    );
  }, 60_000);
});

describe('a request that the reader brings', () => {
  const paste = async (text: string) => {
    const user = await openKeyStep();
    await user.click(
      screen.getByRole('radio', { name: 'I have a request (CSR)' }),
    );
    await user.click(screen.getByRole('textbox', { name: /PEM/ }));
    await user.paste(text);
    return user;
  };

  it('is previewed, and kept when a rule does not hold', async () => {
    signs({ verdict: false });
    const { csr } = await makeRequest({ username: 'bob', kind: 'P-256' });
    const user = await paste(csr);
    expect(await screen.findByText('CN=bob')).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Continue' }));

    expect(
      await screen.findByText('The CN must be the user name.'),
    ).toBeVisible();
    expect(
      screen.getAllByRole('listitem').map(item => item.textContent),
    ).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^Holds/),
        expect.stringMatching(/^Does not hold/),
        expect.stringMatching(/^Not asked yet/),
      ]),
    );
    expect(screen.getByRole('button', { name: 'Sign it' })).toBeDisabled();

    await user.click(screen.getByRole('button', { name: 'Back' }));
    expect(await screen.findByRole('textbox', { name: /PEM/ })).toHaveValue(
      csr,
    );
  });

  it('is still there when the authority refuses', async () => {
    signs({ refuses: true });
    const { csr } = await makeRequest({ username: 'alice', kind: 'P-256' });
    const user = await paste(csr);
    await screen.findByText('CN=alice');
    await user.click(screen.getByRole('button', { name: 'Continue' }));
    await screen.findByText(/Nothing has been signed yet/);
    await user.click(screen.getByRole('button', { name: 'Sign it' }));
    expect(await screen.findByRole('alert')).toHaveTextContent(
      'The authority refuses',
    );
    expect(screen.getByRole('button', { name: 'Sign it' })).toBeEnabled();
  });

  it.each([
    ['nonsense', /This is no certificate request/],
    ['-----BEGIN PRIVATE KEY-----\nMC4=', /This holds a private key/],
  ])('is refused when it is %j', async (text, words) => {
    await paste(text);
    expect(await screen.findByText(words)).toBeVisible();
    expect(screen.getByRole('button', { name: 'Continue' })).toBeDisabled();
    expect(sent).toEqual([]);
  });
});
