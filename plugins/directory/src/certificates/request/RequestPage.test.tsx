import { coreApis } from '@backstage/frontend-plugin-api';
import { mockApis, registerMswTestHooks } from '@backstage/frontend-test-utils';
import type { CertificateProfile } from '@directory-gateway/backstage-plugin-directory-common';
import {
  act,
  cleanup,
  fireEvent,
  screen,
  waitFor,
  within,
} from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http } from 'msw';
import { createPrivateKey, createPublicKey, webcrypto } from 'node:crypto';
import { CryptoEngine, setEngine } from 'pkijs';
import {
  certificate,
  exactJson,
  rfc822,
} from '../../__testUtils__/certificates';
import {
  FakeDirectoryApi,
  failure,
  pageOf,
} from '../../__testUtils__/FakeDirectoryApi';
import { renderDirectory } from '../../__testUtils__/renderDirectory';
import { generateCsr } from '../key/generateCsr';
import { fromPem, toPem } from '../pem';

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

afterEach(() => {
  jest.restoreAllMocks();
  sessionStorage.clear();
});

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

  const NO_HOLD =
    'If your account is locked, this certificate stays valid until it is revoked or expires.';
  const NO_REVOCATION =
    'This certificate cannot be revoked. It stays valid until it expires.';

  it.each([
    [{ can_revoke: true, can_hold: true }, []],
    [{ can_revoke: true, can_hold: false }, [NO_HOLD]],
    [{ can_revoke: false, can_hold: false }, [NO_REVOCATION]],
  ])(
    'says before the request what the CA (%j) cannot do',
    async (ca, shown) => {
      server.allowsWith(ca, 'directory.certificate.sign');
      serveSigning();
      const user = userEvent.setup();
      renderDirectory('/directory/certificates/request');
      await user.click(await screen.findByRole('button', { name: 'Continue' }));
      await user.click(await screen.findByRole('button', { name: 'Continue' }));
      await screen.findByText('All checks passed');
      expect(
        [NO_HOLD, NO_REVOCATION].filter(text => screen.queryByText(text)),
      ).toEqual(shown);
    },
  );

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

describe('RequestPage with steps in the URL', () => {
  it('keeps profile and label when the user goes back and reloads', async () => {
    serveProfiles([profile(), profile({ name: 'mail', is_default: false })]);
    serveSigning();
    const { csr } = await generateCsr({ username: 'alice', type: 'P-256' });
    sessionStorage.setItem('directory.csr.alice.', csr);
    const user = userEvent.setup();
    renderDirectory('/directory/certificates/request');
    await user.click(
      await screen.findByRole('radio', { description: /Profile mail/ }),
    );
    await user.click(screen.getByRole('button', { name: 'Continue' }));
    await screen.findByText('CN=alice');
    await user.click(screen.getByRole('button', { name: 'Continue' }));
    await user.type(
      await screen.findByRole('textbox', { name: 'Label' }),
      ' laptop ',
    );
    await user.click(screen.getByRole('button', { name: 'Back' }));
    await screen.findByText('CN=alice');
    cleanup();

    renderDirectory('/directory/certificates/request?profile=mail&step=check');
    expect(await screen.findByRole('textbox', { name: 'Label' })).toHaveValue(
      ' laptop ',
    );
    await screen.findByText('All checks passed');
    await user.click(
      screen.getByRole('button', { name: 'Request certificate' }),
    );
    await screen.findByRole('heading', { name: 'Certificate issued' });
    expect(sent.at(-1)).toEqual({
      user: 'alice',
      csr,
      profile: 'mail',
      label: 'laptop',
    });
    expect(JSON.stringify(sessionStorage)).toBe('{}');
  });

  it.each([
    ['check', 'Choose a key'],
    ['key', 'Choose a key'],
    ['profile', 'Choose a purpose'],
    ['done', 'Choose a purpose'],
  ])('opens %j without a key at “%s”', async (step, name) => {
    renderDirectory(`/directory/certificates/request?step=${step}`);
    expect(await screen.findByRole('heading', { name })).toBeVisible();
  });
});

describe('RequestPage with a generated key', () => {
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

  it('saves the key with the certificate and its issuers', async () => {
    serveSigning();
    const user = await openKeyStep();
    await user.click(screen.getByRole('button', { name: 'Continue' }));
    await user.click(
      await screen.findByRole('button', { name: 'Request certificate' }),
    );
    await user.click(
      await screen.findByRole('button', {
        name: 'Download key and certificate',
      }),
    );
    await waitFor(() => expect(saved.size).toBe(1));
    const text = await saved.get('alice-2022-05-06.pem')!.text();
    expect(text).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
    const [leaf, issuer] = certificate().certificate_chain!;
    expect(text.slice(text.indexOf('-----BEGIN CERTIFICATE'))).toBe(
      toPem('CERTIFICATE', leaf) + toPem('CERTIFICATE', issuer),
    );
  });
});

describe('RequestPage when the browser cannot create a file', () => {
  it('generates the key after a failure', async () => {
    serveSigning();
    const user = await openKeyStep();
    const generateKey = jest
      .spyOn(globalThis.crypto.subtle, 'generateKey')
      .mockRejectedValueOnce(new Error('No entropy'));
    await user.click(screen.getByRole('button', { name: 'Continue' }));
    expect(await screen.findByRole('alert')).toHaveTextContent(
      'The key could not be generated.',
    );
    expect(screen.getByRole('button', { name: 'Back' })).toBeEnabled();

    await user.click(screen.getByRole('button', { name: 'Continue' }));
    expect(await screen.findByText('All checks passed')).toBeVisible();
    expect(generateKey).toHaveBeenCalledTimes(2);
  });

  it('saves the key after a failure', async () => {
    serveSigning();
    const user = await openKeyStep();
    const press = async (name: string) =>
      await user.click(await screen.findByRole('button', { name }));
    await press('Continue');
    await screen.findByText('All checks passed');
    await press('Request certificate');
    await user.type(await screen.findByLabelText('Passphrase'), 'long enough');

    const exportKey = jest.spyOn(globalThis.crypto.subtle, 'exportKey');
    const saveAfterFailure = async (button: string) => {
      saved.clear();
      exportKey.mockRejectedValueOnce(new Error('Not possible'));
      await press(button);
      expect(await screen.findByRole('alert')).toHaveTextContent(
        'The file could not be created.',
      );
      expect(saved.size).toBe(0);

      await press(button);
      await waitFor(() => expect(saved.size).toBe(1));
      expect(screen.queryByRole('alert')).toBeNull();
    };
    await saveAfterFailure('Download PKCS#12');
    await saveAfterFailure('Download key and certificate');
  });
});

describe('RequestPage after the session has ended', () => {
  it('keeps the input and requests the certificate after a new sign-in', async () => {
    serveSigning();
    const identity = mockApis.identity();
    const getCredentials = jest.spyOn(identity, 'getCredentials');
    const user = userEvent.setup();
    renderDirectory('/directory/certificates/request', {}, [
      [coreApis.identity, identity],
    ]);
    const next = async () =>
      await user.click(await screen.findByRole('button', { name: 'Continue' }));
    await next();
    await next();
    await screen.findByText('All checks passed');
    expect(sent).toHaveLength(1);

    getCredentials.mockRejectedValue(
      Object.assign(new Error('No ticket'), { name: 'AuthenticationError' }),
    );
    await user.click(
      screen.getByRole('button', { name: 'Request certificate' }),
    );
    const alert = await screen.findByRole('alert');
    expect(alert).toHaveTextContent('Your session has ended');
    expect(screen.getByText('All checks passed')).toBeVisible();
    // The key was not sent, so that no certificate can have been issued for it.
    expect(screen.queryByRole('region', { name: /^Unsaved/ })).toBeNull();

    getCredentials.mockResolvedValue({});
    await user.click(within(alert).getByRole('button'));
    expect(
      await screen.findByRole('heading', { name: 'Certificate issued' }),
    ).toBeVisible();
    expect(sent[1].csr).toBe(sent[0].csr);
  });

  it('moves the focus to the step when the button disappears', async () => {
    serveSigning({ rejects: true });
    const identity = mockApis.identity();
    const getCredentials = jest.spyOn(identity, 'getCredentials');
    const user = userEvent.setup();
    renderDirectory('/directory/certificates/request', {}, [
      [coreApis.identity, identity],
    ]);
    const next = async () =>
      await user.click(await screen.findByRole('button', { name: 'Continue' }));
    const again = async () => {
      // Requests that have not been sent yet must fail first.
      const button = await screen.findByRole('button', {
        name: 'Sign in again',
      });
      getCredentials.mockResolvedValue({});
      await user.click(button);
    };
    const endSession = () =>
      getCredentials.mockRejectedValue(
        Object.assign(new Error('No ticket'), { name: 'AuthenticationError' }),
      );
    const heading = () =>
      screen.findByRole('heading', { name: 'Review the request' });

    await next();
    await screen.findByRole('heading', { name: 'Choose a key' });
    endSession();
    await next();
    await again();
    await screen.findByText('All checks passed');
    expect(await heading()).toHaveFocus();

    endSession();
    await user.click(
      screen.getByRole('button', { name: 'Request certificate' }),
    );
    await again();
    await screen.findByText(/The CA rejects the request/);
    expect(await heading()).toHaveFocus();
  });
});

describe('Unsaved keys', () => {
  /** Sends the responses of the signing requests, oldest first. */
  let responds: ((response: Response) => void)[];

  beforeEach(() => {
    responds = [];
    serveSigning();
    server.msw.use(
      http.post('http://localhost:7007/api/directory/v1/certs/', async call => {
        const body = (await call.request
          .clone()
          .json()) as (typeof sent)[number];
        if (body.dry_run) {
          return undefined; // the response of serveSigning
        }
        sent.push(body);
        return await new Promise<Response>(resolve => responds.push(resolve));
      }),
    );
    server.on('/users/alice/certificates/', () => pageOf([]));
  });

  const press = async (name: string) =>
    await userEvent.click(await screen.findByRole('button', { name }));
  const follow = async (name: string) =>
    await userEvent.click(
      (await screen.findAllByRole('link', { name })).at(-1)!,
    );
  const bar = () => screen.queryByRole('region', { name: /^Unsaved/ });
  const open = () => renderDirectory('/directory/certificates/request');

  /** Sends a request with a new key. */
  async function send() {
    const earlier = responds.length;
    await press('Continue');
    await screen.findByRole('heading', { name: 'Choose a key' });
    await press('Continue');
    await screen.findByText('All checks passed');
    await press('Request certificate');
    await waitFor(() => expect(responds).toHaveLength(earlier + 1));
  }

  const issue = (given: Parameters<typeof certificate>[0] = {}) =>
    responds.at(-1)!(exactJson({ result: certificate(given) }));

  /** Opens the list of certificates without loading the portal again. */
  async function leave() {
    await follow('Certificates');
    await screen.findByRole('heading', { level: 1, name: 'Certificates' });
  }

  function asksBeforeClosing() {
    const closing = new Event('beforeunload', { cancelable: true });
    window.dispatchEvent(closing);
    return closing.defaultPrevented;
  }

  /** Downloads the key and returns whether it is that of a CSR. */
  async function savesKeyOf(
    csr: string,
    button = 'Download key and certificate',
  ) {
    saved.clear();
    await press(button);
    await waitFor(() => expect(saved.size).toBe(1));
    const pem = await [...saved.values()][0].text();
    const [key] = /-----BEGIN PRIVATE KEY[^]+?END PRIVATE KEY-----/.exec(pem)!;
    const type = { format: 'der', type: 'spki' } as const;
    const publicKey = createPublicKey(createPrivateKey(key)).export(type);
    return Buffer.from(fromPem(csr)).includes(publicKey);
  }

  it('are kept when the result of the request is unknown', async () => {
    open();
    await send();
    responds[0](failure(504, { message: 'The CA did not respond' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('respond');
    // The certificate of the first request cannot be used without the key.
    await press('Request certificate');
    await waitFor(() => expect(responds).toHaveLength(2));
    responds[1](failure(400, { message: 'The CA rejects the request' }));
    expect(await screen.findByText(/The CA rejects/)).toBeVisible();
    expect(bar()).toHaveTextContent('A certificate may have been issued');

    await press('Request certificate');
    await waitFor(() => expect(responds).toHaveLength(3));
    await leave();
    responds[2](failure(504, { message: 'The CA did not respond' }));
    expect(await savesKeyOf(sent[0].csr, 'Download key')).toBe(true);
    // The browser does not report whether the file was written.
    expect(bar()).toHaveTextContent('A certificate may have been issued');
    expect(await savesKeyOf(sent[0].csr, 'Download key')).toBe(true);
    expect(new Set(sent.map(({ csr }) => csr)).size).toBe(1);
  });

  it('are not kept when the request is rejected', async () => {
    open();
    await send();
    responds[0](failure(400, { message: 'The CA rejects the request' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('rejects');
    expect(asksBeforeClosing()).toBe(false);
    expect(bar()).toBeNull();
  });

  it('are offered separately, and discarded after confirmation', async () => {
    open();
    for (const label of ['laptop', 'phone']) {
      await send();
      issue({ label });
      await screen.findByRole('heading', { name: 'Certificate issued' });
      await leave();
      await follow('Request a certificate');
    }
    expect(screen.getByText('2 private keys are not saved.')).toHaveAttribute(
      'role',
      'status',
    );
    const discard = async (answer: string) => {
      await userEvent.click(
        within(bar()!).getByRole('button', { description: /phone/ }),
      );
      const dialog = within(await screen.findByRole('dialog'));
      await userEvent.click(dialog.getByRole('button', { name: answer }));
      await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    };
    await discard('Keep key');
    expect(within(bar()!).getAllByText(/phone/)).not.toHaveLength(0);
    await discard('Discard key');
    expect(bar()).not.toHaveTextContent('phone');

    await follow('Save key');
    const issued = sent.filter(body => !body.dry_run);
    expect(await savesKeyOf(issued[0].csr)).toBe(true);
    expect(bar()).toBeNull();
  });

  it('are discarded together with their page', async () => {
    open();
    await send();
    issue();
    await press('Discard key');
    const dialog = within(await screen.findByRole('dialog'));
    await userEvent.click(dialog.getByRole('button', { name: 'Discard key' }));
    await screen.findByRole('heading', { level: 1, name: 'Certificates' });
    expect(bar()).toBeNull();
    expect(asksBeforeClosing()).toBe(false);
  });

  it.each(['unsaved', 'saved'])(
    'are removed when the user signs out, which closes the page: %s',
    async state => {
      open();
      await send();
      issue();
      await screen.findByRole('button', { name: 'Discard key' });
      if (state === 'saved') {
        await savesKeyOf(sent[0].csr);
        await screen.findByText(/private key was downloaded/);
      }
      act(() => {
        window.dispatchEvent(new Event('pagehide'));
      });
      await waitFor(() =>
        expect(
          screen.queryByRole('button', {
            name: 'Download key and certificate',
          }),
        ).toBeNull(),
      );
      expect(bar()).toBeNull();
    },
  );

  it('are removed when the session continues as another user', async () => {
    open();
    await send();
    issue();
    await leave();
    await screen.findByRole('link', { name: 'Save key' });
    server.on('/users/bob/certificates/', () => pageOf([]));
    const switchTo = async (username: string | undefined) => {
      server.hasCurrentUser(username);
      const now = Date.now() + 60_000; // the current user is queried again
      jest.spyOn(Date, 'now').mockReturnValue(now);
      const before = server.requests.length;
      window.dispatchEvent(new Event('visibilitychange'));
      await waitFor(() =>
        expect(server.requests.slice(before).map(({ path }) => path)).toContain(
          '/me/',
        ),
      );
    };
    await switchTo(undefined);
    await waitFor(() => expect(bar()).toBeNull());
    await switchTo('alice');
    await screen.findByRole('link', { name: 'Save key' });
    await switchTo('bob');
    await waitFor(() => expect(bar()).toBeNull());
    expect(asksBeforeClosing()).toBe(false);
    await switchTo('alice');
    expect(bar()).toBeNull();
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
    await screen.findByText(/^Renewing “laptop · Signing in .*”/);
    await user.click(screen.getByRole('button', { name: 'Continue' }));
    await screen.findByText('All checks passed');
    await user.click(
      screen.getByRole('button', { name: 'Request certificate' }),
    );
    await screen.findByRole('heading', { name: 'Certificate issued' });
  }

  it('does not offer to revoke the old certificate when the CA cannot revoke', async () => {
    server.allowsWith(
      { can_revoke: false, can_hold: false },
      'directory.certificate.sign',
    );
    serveSigning();
    serveRenewal();
    await renew();
    expect(
      screen.queryByRole('region', { name: 'Old certificate' }),
    ).toBeNull();
  });

  it('does not offer the CSR of another request', async () => {
    serveRenewal();
    sessionStorage.setItem('directory.csr.alice.', 'a CSR');
    renderDirectory('/directory/certificates/request?renew=7');
    expect(
      await screen.findByRole('radio', { name: 'Use my own CSR' }),
    ).not.toBeChecked();
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

  it('shows which checks passed, failed and were not done', async () => {
    serveSigning({ passes: false });
    const { csr } = await generateCsr({ username: 'bob', type: 'P-256' });
    const user = await paste(csr);
    await screen.findByText('CN=bob');
    await user.click(screen.getByRole('button', { name: 'Continue' }));
    await screen.findByText(
      'The subject must have exactly one CN: the username',
    );
    expect(screen.queryByText('The CN must be the user name.')).toBeNull();
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
  });

  it('keeps the CSR for the session until a certificate is issued', async () => {
    serveSigning();
    const { csr } = await generateCsr({ username: 'alice', type: 'P-256' });
    const user = await paste(csr);
    await screen.findByText('CN=alice');
    cleanup();

    renderDirectory('/directory/certificates/request');
    await user.click(await screen.findByRole('button', { name: 'Continue' }));
    expect(await screen.findByRole('textbox', { name: /PEM/ })).toHaveValue(
      csr,
    );
    await screen.findByText('CN=alice');
    await user.click(screen.getByRole('button', { name: 'Continue' }));
    await screen.findByText('All checks passed');
    expect(JSON.stringify(sessionStorage)).toContain('CERTIFICATE REQUEST');
    await user.click(
      screen.getByRole('button', { name: 'Request certificate' }),
    );
    await screen.findByRole('heading', { name: 'Certificate issued' });
    expect(JSON.stringify(sessionStorage)).toBe('{}');
  });

  /** Drops a file with this content on the field. */
  const drop = async (content: Uint8Array) => {
    const user = await openKeyStep();
    await user.click(screen.getByRole('radio', { name: 'Use my own CSR' }));
    const field = screen.getByRole('textbox', { name: /PEM/ });
    const file = {
      size: content.length,
      arrayBuffer: jest.fn(async () => Uint8Array.from(content).buffer),
    };
    fireEvent.drop(field, { dataTransfer: { files: [file] } });
    return { field, file };
  };

  it.each([
    ['UTF-8', (text: string) => Buffer.from(text)],
    ['UTF-8 with a mark', (text: string) => Buffer.from(`\ufeff${text}`)],
    ['UTF-16', (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')],
    [
      'UTF-16, big-endian',
      (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
    ],
  ])('reads a dropped file in %s', async (_, encode) => {
    const { csr } = await generateCsr({ username: 'bob', type: 'P-256' });
    const { field } = await drop(encode(csr));
    expect(await screen.findByText('CN=bob')).toBeVisible();
    expect(field).toHaveValue(csr);
  });

  it('does not read a dropped file of more than 64 KiB', async () => {
    const { field, file } = await drop(Buffer.alloc(64 * 1024 + 1, 'x'));
    expect(
      await screen.findByText(/^The file is larger than 64 KiB/),
    ).toBeVisible();
    expect(file.arrayBuffer).not.toHaveBeenCalled();
    expect(field).toHaveValue('');

    const user = userEvent.setup();
    await user.type(field, 'nonsense');
    expect(
      await screen.findByText(/^Not a certificate signing request/),
    ).toBeVisible();
    expect(screen.queryByText(/larger than 64 KiB/)).toBeNull();
  });

  it.each([
    ['nonsense', /Not a certificate signing request/],
    ['-----BEGIN PRIVATE KEY-----\nMC4=', /This contains a private key/],
  ])('rejects %j', async (text, words) => {
    await paste(text);
    expect(await screen.findByText(words)).toBeVisible();
    const field = screen.getByRole('textbox', { name: /PEM/ });
    expect(field).toBeInvalid();
    expect(field).toHaveAccessibleDescription(words);
    expect(JSON.stringify(sessionStorage)).toBe('{}');
    expect(screen.getByRole('button', { name: 'Continue' })).toBeDisabled();
    expect(sent).toEqual([]);
  });
});
