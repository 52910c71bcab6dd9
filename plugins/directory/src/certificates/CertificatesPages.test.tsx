import { registerMswTestHooks } from '@backstage/frontend-test-utils';
import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import {
  aCertificate,
  exactJson,
  LONG_SERIAL,
  rfc822,
} from '../__testUtils__/certificates';
import {
  DirectoryServer,
  failure,
  pageOf,
} from '../__testUtils__/DirectoryServer';
import { renderDirectory } from '../__testUtils__/renderDirectory';

const server = new DirectoryServer();
registerMswTestHooks(server.msw);

const aliceHolds = (certificates: unknown[]) =>
  server.on('/users/alice/certificates/', () =>
    exactJson(pageOf(certificates as string[])),
  );

beforeEach(() => {
  server.hasReader('alice');
  server.allows('directory.read', 'directory.certificate.sign');
});

describe('my certificates', () => {
  it('says of each how it stands, and gives its number to the last digit', async () => {
    const user = userEvent.setup();
    const copied = jest.spyOn(navigator.clipboard, 'writeText');
    aliceHolds([
      aCertificate({ valid_not_after: rfc822(300) }),
      aCertificate({
        serial_number: 7n,
        sha256_fingerprint: '07',
        valid_not_after: rfc822(12.5),
      }),
      aCertificate({ serial_number: 6n, sha256_fingerprint: '06' }),
      aCertificate({
        serial_number: 5n,
        sha256_fingerprint: '05',
        revoked: true,
      }),
      aCertificate({
        serial_number: 4n,
        sha256_fingerprint: '04',
        issued_here: false,
        valid_not_after: rfc822(300),
      }),
    ]);
    renderDirectory('/directory/certificates');

    const rows = await screen.findAllByRole('row');
    const texts = rows.map(row => row.textContent);
    expect(texts[1]).toContain('Expires soonin 12 days');
    expect(texts[2]).toContain('Valid');
    // Those that cannot be used, by their ends.
    expect(texts[4]).toContain('Expired');
    expect(texts[3]).toContain('Not issued here');
    expect(texts[3]).not.toContain('Valid');
    expect(texts[5]).toMatch(/Revoked6 May 2022|RevokedMay 6, 2022/);

    await user.click(
      screen.getByRole('button', { name: `Copy serial number ${LONG_SERIAL}` }),
    );
    expect(copied).toHaveBeenCalledWith(String(LONG_SERIAL));

    await user.click(
      screen.getByRole('button', { name: `Actions for ${LONG_SERIAL}` }),
    );
    expect(
      await screen.findByRole('menuitem', { name: 'Details' }),
    ).toHaveAttribute('href', `/directory/certificates/${LONG_SERIAL}`);
  });

  it('says when there are none', async () => {
    aliceHolds([]);
    renderDirectory('/directory/certificates');
    expect(
      await screen.findByRole('heading', { name: 'You have no certificates' }),
    ).toBeVisible();
  });

  it('says when the reader is not in the directory', async () => {
    server.hasReader(undefined);
    renderDirectory('/directory/certificates');
    expect(
      await screen.findByRole('heading', {
        name: 'The directory does not know you',
      }),
    ).toBeVisible();
  });

  it('says when the directory is away', async () => {
    server.on('/users/alice/certificates/', () =>
      failure(503, { message: 'The authority cannot be reached' }),
    );
    renderDirectory('/directory/certificates');
    expect(
      await screen.findByRole('button', { name: 'Try again' }),
    ).toBeVisible();
    expect(screen.getByText('The authority cannot be reached')).toBeVisible();
  });

  it('says when the directory cannot even say who asks', async () => {
    server.on('/me/', () => failure(503, { message: 'It cannot be reached' }));
    renderDirectory('/directory/certificates');
    expect(
      await screen.findByRole('button', { name: 'Try again' }),
    ).toBeVisible();
  });

  it('opens one by a hexadecimal number, and takes nothing else', async () => {
    const user = userEvent.setup();
    aliceHolds([]);
    server.on('/certs/:serial/', () =>
      exactJson({
        result: aCertificate({ san_rfc822name: ['a@example.test'] }),
      }),
    );
    renderDirectory('/directory/certificates');

    const field = await screen.findByRole('textbox', { name: /serial number/ });
    await user.type(field, 'nonsense{Enter}');
    expect(screen.getByText(/That is no serial number/)).toBeVisible();

    await user.clear(field);
    await user.type(field, `0x${LONG_SERIAL.toString(16)}{Enter}`);
    const about = await screen.findByRole('region', {
      name: 'About this certificate',
    });
    expect(server.asked.at(-1)?.path).toBe(`/certs/${LONG_SERIAL}/`);
    expect(within(about).getByText(String(LONG_SERIAL))).toBeVisible();
  });
});

describe('the page of a certificate', () => {
  const path = `/directory/certificates/${LONG_SERIAL}`;

  it('shows names by kind, the chain as steps, usages and the revocation', async () => {
    server.on('/certs/:serial/', () =>
      exactJson({
        result: aCertificate({
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
        /^CN=Certificate Authority,O=EXAMPLE.TESTRoot: signed by itself/,
      ),
    ]);
    const names = screen.getByRole('region', { name: 'Alternative names' });
    expect(names).toHaveTextContent('E-mail addressesa@example.test');
    expect(names).toHaveTextContent('Kerberos principalsalice@EXAMPLE.TEST');
    const usages = screen.getByRole('region', { name: 'Usages' });
    expect(usages).toHaveTextContent('Key usagedigitalSignature');
    expect(usages).toHaveTextContent('Extended key usageclientAuth');
    expect(screen.getByRole('button', { name: 'Chain (PEM)' })).toBeEnabled();
  });

  it.each([
    [404, 'Certificate not found', `There is no certificate ${LONG_SERIAL}`],
    [403, 'You may not read this certificate', 'You may not see this'],
    [503, 'The authority is away', 'The directory cannot be reached'],
  ])('says what %i means', async (status, message, heading) => {
    server.on('/certs/:serial/', () => failure(status, { message }));
    aliceHolds([]);
    renderDirectory(path);
    expect(await screen.findByRole('heading', { name: heading })).toBeVisible();
  });

  it("shows one of the reader's own that no authority knows", async () => {
    server.on('/certs/:serial/', () =>
      failure(404, { message: 'Certificate not found' }),
    );
    aliceHolds([
      aCertificate({
        cacn: null,
        certificate_chain: null,
        issued_here: false,
        valid_not_after: rfc822(300),
      }),
    ]);
    renderDirectory(path);
    expect(await screen.findByText(String(LONG_SERIAL))).toBeVisible();
    expect(screen.getByText(/does not hand out the chain/)).toBeVisible();
    expect(screen.getByText('Not issued here')).toBeVisible();
    expect(screen.queryByText('Valid')).toBeNull();
  });

  it('does not ask for what is no serial number', async () => {
    renderDirectory('/directory/certificates/alice');
    expect(
      await screen.findByRole('heading', {
        name: '“alice” is no serial number',
      }),
    ).toBeVisible();
  });
});
