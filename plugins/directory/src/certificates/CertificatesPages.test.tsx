import { registerMswTestHooks } from '@backstage/frontend-test-utils';
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import {
  certificate,
  exactJson,
  LONG_SERIAL,
  rfc822,
} from '../__testUtils__/certificates';
import {
  FakeDirectoryApi,
  failure,
  pageOf,
} from '../__testUtils__/FakeDirectoryApi';
import { renderDirectory } from '../__testUtils__/renderDirectory';

const server = new FakeDirectoryApi();
registerMswTestHooks(server.msw);

const setCertificates = (certificates: unknown[]) =>
  server.on('/users/alice/certificates/', () =>
    exactJson(pageOf(certificates as string[])),
  );

beforeEach(() => {
  server.hasCurrentUser('alice');
  server.allows('directory.read', 'directory.certificate.sign');
});

describe('CertificatesPage', () => {
  const ACTIONS =
    'Actions for Signing in to servers and websites (34028236…211454)';

  it('lists certificates with purpose, state and exact serial number', async () => {
    const user = userEvent.setup();
    const copied = jest.spyOn(navigator.clipboard, 'writeText');
    setCertificates([
      certificate({ valid_not_after: rfc822(300) }),
      certificate({
        serial_number: 7n,
        sha256_fingerprint: '07',
        valid_not_after: rfc822(12.5),
        label: 'laptop',
        extended_key_usage: ['clientAuth', '1.2.3'],
      }),
      certificate({ serial_number: 6n, sha256_fingerprint: '06' }),
      certificate({
        serial_number: 5n,
        sha256_fingerprint: '05',
        revoked: true,
        revoked_at: '2022-05-06T06:22:53.000Z',
        revocation_reason: 4,
      }),
      certificate({
        serial_number: 3n,
        sha256_fingerprint: '03',
        revoked: true,
        revocation_reason: 6,
        valid_not_after: rfc822(400),
      }),
      certificate({
        serial_number: 4n,
        sha256_fingerprint: '04',
        issued_here: false,
        valid_not_after: rfc822(300),
      }),
    ]);
    renderDirectory('/directory/certificates');

    await screen.findByRole('link', { name: 'Renew' });
    const rows = screen.getAllByRole('listitem');
    const texts = rows
      .map(row => row.textContent)
      .filter(text => text?.includes('Serial number'));
    expect(texts[0]).toMatch(
      /^laptop · Signing in to servers and websites, Other purpose \(1\.2\.3\)Valid from .*\d:\d\d/,
    );
    expect(texts[0]).toContain('Expires soonExpires in 12 days');
    expect(texts[1]).toMatch(/Valid(?! from)/);
    expect(texts[2]).toContain('On hold');
    expect(texts[2]).toContain('contact your administrator');
    // Unusable certificates come last, sorted by expiry.
    expect(texts[4]).toContain('Expired');
    expect(texts[3]).toContain('External');
    expect(texts[3]).not.toMatch(/Valid(?! from)/);
    expect(texts[5]).toMatch(
      /Revoked(6 May 2022|May 6, 2022)?.*Reason: superseded/,
    );
    // All have the same issuer.
    expect(texts.join()).not.toContain('Issuer');
    expect(screen.getByRole('link', { name: 'Renew' })).toHaveAttribute(
      'href',
      '/directory/certificates/request?renew=7',
    );

    await user.click(
      screen.getByRole('button', { name: `Copy serial number ${LONG_SERIAL}` }),
    );
    expect(copied).toHaveBeenCalledWith(String(LONG_SERIAL));

    await user.click(screen.getByRole('button', { name: ACTIONS }));
    expect(
      await screen.findByRole('menuitem', { name: 'Details' }),
    ).toHaveAttribute('href', `/directory/certificates/${LONG_SERIAL}`);
  });

  it('revokes a certificate from its menu', async () => {
    const user = userEvent.setup();
    setCertificates([certificate({ valid_not_after: rfc822(300) })]);
    renderDirectory('/directory/certificates');
    await user.click(await screen.findByRole('button', { name: ACTIONS }));
    await user.click(
      await screen.findByRole('menuitem', { name: 'Revoke certificate' }),
    );

    const dialog = await screen.findByRole('dialog');
    expect(dialog).toHaveTextContent(String(LONG_SERIAL));
    expect(
      within(dialog).getByRole('radio', {
        name: 'The device or the key was lost, stolen or exposed',
      }),
    ).toBeVisible();
  });

  it('says that no CA is configured, and lists external certificates', async () => {
    server.allowsWith(null, 'directory.read');
    setCertificates([
      certificate({ issued_here: false, valid_not_after: rfc822(300) }),
    ]);
    renderDirectory('/directory/certificates');
    expect(
      await screen.findByRole('heading', {
        name: 'This portal does not issue certificates',
      }),
    ).toBeVisible();
    expect(
      screen
        .getAllByRole('listitem')
        .map(item => item.textContent)
        .join(),
    ).toContain('External');
    expect(screen.queryByText('You have no certificates')).toBeNull();
    expect(
      screen.queryByRole('link', { name: 'Request a certificate' }),
    ).toBeNull();
    expect(screen.queryByRole('textbox')).toBeNull();
  });

  it('shows a notice when the account has no directory user', async () => {
    server.hasCurrentUser(undefined);
    renderDirectory('/directory/certificates');
    expect(
      await screen.findByRole('heading', {
        name: 'Your account is not linked to a directory user',
      }),
    ).toBeVisible();
  });

  it('shows an error when the certificates cannot be loaded', async () => {
    server.on('/users/alice/certificates/', () =>
      failure(503, { message: 'The CA is unavailable' }),
    );
    renderDirectory('/directory/certificates');
    expect(
      await screen.findByRole('button', { name: 'Try again' }),
    ).toBeVisible();
    expect(screen.getByText('The CA is unavailable')).toBeVisible();
  });

  it('opens a certificate by its hexadecimal serial number and rejects other text', async () => {
    const user = userEvent.setup();
    setCertificates([]);
    server.on('/certs/:serial/', () =>
      exactJson({
        result: certificate({ san_rfc822name: ['a@example.test'] }),
      }),
    );
    renderDirectory('/directory/certificates');

    const field = await screen.findByRole('textbox', { name: /serial number/ });
    await user.type(field, 'nonsense{Enter}');
    expect(screen.getByText(/^Enter a serial number/)).toBeVisible();

    await user.clear(field);
    await user.type(field, `0x${LONG_SERIAL.toString(16)}{Enter}`);
    const about = await screen.findByRole('region', {
      name: 'About this certificate',
    });
    expect(server.requests.at(-1)?.path).toBe(`/certs/${LONG_SERIAL}/`);
    expect(within(about).getByText(String(LONG_SERIAL))).toBeVisible();
  });
});

describe('CertificatePage', () => {
  const path = `/directory/certificates/${LONG_SERIAL}`;

  it('shows alternative names, chain, usage and revocation', async () => {
    server.on('/certs/:serial/', () =>
      exactJson({
        result: certificate({
          san_rfc822name: ['a@example.test'],
          san_other_kpn: ['alice@EXAMPLE.TEST'],
          revoked: true,
          revocation_reason: 1,
        }),
      }),
    );
    renderDirectory(path);

    expect(
      await screen.findByText('This certificate is revoked'),
    ).toBeVisible();
    expect(screen.getByText(/the key was compromised/)).toBeVisible();
    const chain = screen.getByRole('region', { name: 'Chain of trust' });
    const steps = within(chain).getAllByRole('listitem');
    expect(steps.map(step => step.textContent)).toEqual([
      expect.stringMatching(
        /^CN=alice,O=EXAMPLE.TESTThis certificate · EC P-256/,
      ),
      expect.stringMatching(
        /^CN=Certificate Authority,O=EXAMPLE.TESTRoot, self-signed/,
      ),
    ]);
    const names = screen.getByRole('region', { name: 'Alternative names' });
    expect(names).toHaveTextContent('Email addressesa@example.test');
    expect(names).toHaveTextContent('Kerberos principalsalice@EXAMPLE.TEST');
    const usages = screen.getByRole('region', { name: 'Usage' });
    expect(usages).toHaveTextContent('Key usageDigital signature');
    expect(usages).toHaveTextContent(
      'PurposeSigning in to servers and websites',
    );
    await userEvent.click(screen.getByRole('button', { name: 'Download' }));
    expect(
      (await screen.findAllByRole('menuitem')).map(item => item.textContent),
    ).toEqual(['Download chain', 'Download certificate']);
  });

  it('offers renewal, with commands, to the owner of a valid certificate', async () => {
    server.on('/certs/:serial/', () =>
      exactJson({
        result: certificate({
          label: 'laptop',
          valid_not_before: rfc822(-300),
          valid_not_after: rfc822(300),
        }),
      }),
    );
    renderDirectory(path);

    expect(
      await screen.findByRole('heading', {
        level: 1,
        name: 'laptop · Signing in to servers and websites',
      }),
    ).toBeVisible();
    expect(await screen.findByRole('link', { name: 'Renew' })).toHaveAttribute(
      'href',
      `/directory/certificates/request?renew=${LONG_SERIAL}`,
    );
    const command = screen.getByText(
      new RegExp(
        `/api/directory/v1/certs/${LONG_SERIAL}/renewal/ \\| jq -r .result.certificate >new.pem$`,
      ),
    );
    expect(command).not.toBeVisible();
    await userEvent.click(
      screen.getByRole('button', { name: 'Renew on the command line' }),
    );
    expect(command).toBeVisible();
    const about = screen.getByRole('region', {
      name: 'About this certificate',
    });
    expect(about).toHaveTextContent(
      /^About this certificateStateValidExpires.*\(in .*\)Valid from/,
    );
  });

  it('does not offer to label or renew a certificate of another user', async () => {
    server.hasCurrentUser('bob');
    server.on('/certs/:serial/', () =>
      exactJson({
        result: certificate({
          valid_not_before: rfc822(-300),
          valid_not_after: rfc822(300),
        }),
      }),
    );
    renderDirectory(path);
    await screen.findByRole('button', { name: 'Download' });
    await waitFor(() =>
      expect(server.requests.map(request => request.path)).toContain('/me/'),
    );
    expect(screen.queryByRole('link', { name: 'Renew' })).toBeNull();
    expect(screen.queryByRole('button', { name: 'Set label' })).toBeNull();
  });

  it('explains that a certificate is on hold', async () => {
    server.on('/certs/:serial/', () =>
      exactJson({
        result: certificate({ revoked: true, revocation_reason: 6 }),
      }),
    );
    renderDirectory(path);
    expect(
      await screen.findByText('This certificate is on hold'),
    ).toBeVisible();
    expect(screen.getByText(/until the account is unlocked/)).toBeVisible();
    expect(screen.queryByText(/is revoked/)).toBeNull();
  });

  it.each([
    [404, 'Certificate not found', `Certificate ${LONG_SERIAL} not found`],
    [
      403,
      'You may not read this certificate',
      'You are not allowed to view this',
    ],
    [503, 'The CA is unavailable', 'The directory is unavailable'],
  ])('explains an error with status %i', async (status, message, heading) => {
    server.on('/certs/:serial/', () => failure(status, { message }));
    setCertificates([]);
    renderDirectory(path);
    expect(await screen.findByRole('heading', { name: heading })).toBeVisible();
  });

  it('rejects a path that is not a serial number', async () => {
    renderDirectory('/directory/certificates/alice');
    expect(
      await screen.findByRole('heading', {
        name: '“alice” is not a serial number',
      }),
    ).toBeVisible();
  });
});
