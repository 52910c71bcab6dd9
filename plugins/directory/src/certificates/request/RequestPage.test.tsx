import { registerMswTestHooks } from '@backstage/frontend-test-utils';
import type { CertificateProfile } from '@directory-gateway/backstage-plugin-directory-common';
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http } from 'msw';
import { webcrypto } from 'node:crypto';
import { CryptoEngine, setEngine } from 'pkijs';
import {
  certificate,
  exactJson,
  rfc822,
} from '../../__testUtils__/certificates';
import {
  FakeDirectoryApi,
  failure,
} from '../../__testUtils__/FakeDirectoryApi';
import { renderDirectory } from '../../__testUtils__/renderDirectory';
import { generateCsr } from '../key/generateCsr';

const server = new FakeDirectoryApi();
registerMswTestHooks(server.msw);

const rule = (name: string, passed: boolean | null) => ({
  rule: name,
  passed,
  message: passed === false ? 'The CN must be the user name.' : 'Passed.',
});

/** Bodies of the signing requests. */
let sent: Record<string, string>[];

/** Downloaded files by name. */
let saved: Map<string, Blob>;

function serveSigning(options: { passes?: boolean; rejects?: boolean } = {}) {
  const { passes = true, rejects = false } = options;
  server.msw.use(
    http.post('http://localhost:7007/api/directory/v1/certs/', async call => {
      const body = (await call.request.json()) as Record<string, string>;
      sent.push(body);
      if (body.dry_run) {
        return exactJson({
          result: {
            would_sign: passes,
            rules: [
              rule('principal', true),
              rule('common_name', passes),
              rule('other_name', passes || null),
            ],
          },
        });
      }
      return rejects
        ? failure(400, { message: 'The CA rejects the request' })
        : exactJson({ result: certificate() });
    }),
  );
}

/** Sets the available profiles. */
function serveProfiles(profiles: readonly CertificateProfile[]) {
  server.on('/certs/profiles/', () => ({ result: [...profiles] }));
}

const profile = (given: Partial<CertificateProfile> = {}) => ({
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
  await screen.findByRole('heading', { name: 'Choose a key' });
  return user;
}

beforeAll(() => {
  // jsdom has no Web Crypto; browsers provide it in secure contexts.
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
  server.hasCurrentUser('alice');
  server.allows('directory.certificate.sign');
  serveProfiles([profile()]);
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

describe('RequestPage, profile step', () => {
  it('offers the available profiles with the default selected', async () => {
    serveProfiles([
      profile({ name: 'mail', purpose: 'Mail', is_default: false }),
      profile(),
      profile({
        name: 'caIPA',
        lifetime: null,
        extended_key_usage: null,
        is_default: false,
      }),
    ]);
    serveSigning();
    const user = userEvent.setup();
    renderDirectory('/directory/certificates/request');
    expect(
      await screen.findByRole('radio', {
        name: 'Signing in to servers and websites',
        description: 'Valid for 30 days · Profile userCerts',
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
          'Valid for 30 days · Signing in to servers and websites · Profile mail',
      }),
    );
    await user.click(screen.getByRole('button', { name: 'Continue' }));
    await user.click(await screen.findByRole('button', { name: 'Continue' }));
    await screen.findByText('All checks passed');
    expect(sent).toMatchObject([{ profile: 'mail' }]);
  });

  it('shows a notice when the user may not request certificates', async () => {
    server.allows('directory.read', 'directory.certificate.revoke');
    renderDirectory('/directory/certificates/request');
    expect(
      await screen.findByText('You are not allowed to request certificates'),
    ).toBeVisible();
    expect(screen.queryByRole('button', { name: 'Continue' })).toBeNull();
  });

  it("waits until the user's allowed operations are loaded", async () => {
    server.on('/me/operations/', () =>
      failure(503, { message: 'Unavailable' }),
    );
    renderDirectory('/directory/certificates/request');
    expect(
      await screen.findByRole('button', { name: 'Try again' }),
    ).toBeVisible();
    expect(screen.queryByRole('button', { name: 'Continue' })).toBeNull();
  });

  it('shows a notice when no profile is available', async () => {
    serveProfiles([]);
    renderDirectory('/directory/certificates/request');
    expect(
      await screen.findByText('No certificate profile is available to you'),
    ).toBeVisible();
  });
});

describe('RequestPage with a generated key', () => {
  it('sends only the CSR and offers the key for download', async () => {
    serveSigning();
    const user = await openKeyStep();
    await user.click(screen.getByRole('button', { name: 'Continue' }));

    const sign = await screen.findByRole('button', {
      name: 'Request certificate',
    });
    expect(await screen.findByText('All checks passed')).toBeVisible();
    await user.click(sign);
    expect(
      await screen.findByRole('heading', { name: 'Certificate issued' }),
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
    expect(await screen.findByText(/private key was downloaded/)).toBeVisible();
    const pem = await saved.get('alice-2022-05-06.pem')!.text();
    const key = /PRIVATE KEY-----\n([^-]+)\n-----END/.exec(pem)![1];
    for (const line of key.split('\n').slice(1)) {
      expect(
        JSON.stringify([sent, localStorage, sessionStorage]),
      ).not.toContain(line);
    }
  });

  it('asks for confirmation when the user leaves without saving the key', async () => {
    serveSigning();
    const user = await openKeyStep();
    await user.click(screen.getByRole('button', { name: 'Continue' }));
    await screen.findByText('All checks passed');
    await user.click(
      screen.getByRole('button', { name: 'Request certificate' }),
    );
    jest.mocked(HTMLAnchorElement.prototype.click).mockRestore();

    await user.click(
      await screen.findByRole('link', { name: 'Certificate details' }),
    );
    const dialog = await screen.findByRole('dialog');
    expect(dialog).toHaveTextContent('Leave without saving the key?');
    await user.click(within(dialog).getByRole('button', { name: 'Stay' }));
    expect(
      screen.getByRole('heading', { name: 'Certificate issued' }),
    ).toBeVisible();
    window.history.back();
    await user.click(
      within(await screen.findByRole('dialog')).getByRole('button', {
        name: 'Stay',
      }),
    );
    const closing = new Event('beforeunload', { cancelable: true });
    window.dispatchEvent(closing);
    expect(closing.defaultPrevented).toBe(true);
  });

  it('creates a PKCS#12 file only when the passphrase is valid', async () => {
    serveSigning();
    const user = await openKeyStep();
    await user.click(screen.getByRole('button', { name: 'Continue' }));
    await screen.findByText('All checks passed');
    await user.click(
      screen.getByRole('button', { name: 'Request certificate' }),
    );

    const field = await screen.findByLabelText('Passphrase');
    const button = screen.getByRole('button', { name: 'Download PKCS#12' });
    await user.type(field, 'short');
    expect(button).toBeDisabled();
    expect(field).toHaveAccessibleDescription('3 more characters are needed.');
    await user.type(field, 'ä');
    expect(button).toBeDisabled();
    expect(field).toHaveAccessibleDescription(/^Only ASCII/);
    await user.clear(field);
    await user.type(field, 'long enough');
    await user.click(button);
    await waitFor(() =>
      expect(saved.get('alice-2022-05-06.p12')?.size).toBeGreaterThan(0),
    );
  });
});

describe('RequestPage for a renewal', () => {
  const old = certificate({
    serial_number: 7n,
    label: 'laptop',
    profile: 'mail',
    valid_not_before: rfc822(-20),
    valid_not_after: rfc822(9),
  });

  /** Serves the old certificate and its renewal; returns the request bodies. */
  function serveRenewal(options: { isRefused?: boolean } = {}) {
    const bodies: unknown[] = [];
    serveProfiles([profile(), profile({ name: 'mail', is_default: false })]);
    server.on('/certs/7/', () => exactJson({ result: old }));
    server.msw.use(
      http.post(
        'http://localhost:7007/api/directory/v1/certs/7/renewal/',
        async ({ request }) => {
          bodies.push(await request.json());
          return options.isRefused
            ? failure(403, { message: 'Sign in again' })
            : exactJson({ result: certificate() });
        },
      ),
    );
    return bodies;
  }

  async function renew() {
    const user = userEvent.setup();
    renderDirectory('/directory/certificates/request?renew=7');
    await screen.findByText(/^Renewing “Signing in .* · laptop”/);
    await user.click(screen.getByRole('button', { name: 'Continue' }));
    await screen.findByText('All checks passed');
    await user.click(
      screen.getByRole('button', { name: 'Request certificate' }),
    );
    await screen.findByRole('heading', { name: 'Certificate issued' });
  }

  it('renews with the same profile and a new key, and offers to revoke the old certificate', async () => {
    serveSigning();
    const bodies = serveRenewal();
    await renew();
    const [{ csr }] = sent;
    expect(sent).toEqual([
      { user: 'alice', csr, profile: 'mail', label: 'laptop', dry_run: 'true' },
    ]);
    expect(bodies).toEqual([{ csr }]);
    const section = within(
      await screen.findByRole('region', { name: 'Old certificate' }),
    );
    await userEvent.click(
      section.getByRole('button', { name: 'Revoke certificate' }),
    );
    expect(
      within(await screen.findByRole('dialog')).getByRole('radio', {
        name: 'Another certificate has replaced it',
      }),
    ).toBeChecked();
  });

  it('requests a certificate with the same label when a renewal is refused', async () => {
    serveSigning();
    const bodies = serveRenewal({ isRefused: true });
    await renew();
    expect(bodies).toHaveLength(1);
    expect(sent[1]).toEqual({
      user: 'alice',
      csr: sent[0].csr,
      profile: 'mail',
      label: 'laptop',
    });
  });
});

describe('RequestPage with an uploaded CSR', () => {
  const paste = async (text: string) => {
    const user = await openKeyStep();
    await user.click(screen.getByRole('radio', { name: 'Use my own CSR' }));
    await user.click(screen.getByRole('textbox', { name: /PEM/ }));
    await user.paste(text);
    return user;
  };

  it('shows a preview and keeps the CSR when a check fails', async () => {
    serveSigning({ passes: false });
    const { csr } = await generateCsr({ username: 'bob', type: 'P-256' });
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
        expect.stringMatching(/^Passed/),
        expect.stringMatching(/^Failed/),
        expect.stringMatching(/^Not checked/),
      ]),
    );
    expect(
      screen.getByRole('button', { name: 'Request certificate' }),
    ).toBeDisabled();

    await user.click(screen.getByRole('button', { name: 'Back' }));
    expect(await screen.findByRole('textbox', { name: /PEM/ })).toHaveValue(
      csr,
    );
  });

  it('keeps the input when the CA rejects the request', async () => {
    serveSigning({ rejects: true });
    const { csr } = await generateCsr({ username: 'alice', type: 'P-256' });
    const user = await paste(csr);
    await screen.findByText('CN=alice');
    await user.click(screen.getByRole('button', { name: 'Continue' }));
    await screen.findByText('All checks passed');
    await user.click(
      screen.getByRole('button', { name: 'Request certificate' }),
    );
    expect(await screen.findByRole('alert')).toHaveTextContent(
      'The CA rejects the request',
    );
    expect(
      screen.getByRole('button', { name: 'Request certificate' }),
    ).toBeEnabled();
  });

  it.each([
    ['nonsense', /Not a certificate signing request/],
    ['-----BEGIN PRIVATE KEY-----\nMC4=', /This contains a private key/],
  ])('rejects %j', async (text, words) => {
    await paste(text);
    expect(await screen.findByText(words)).toBeVisible();
    expect(screen.getByRole('button', { name: 'Continue' })).toBeDisabled();
    expect(sent).toEqual([]);
  });
});
