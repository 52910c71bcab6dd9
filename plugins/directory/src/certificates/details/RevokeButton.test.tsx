import { registerMswTestHooks } from '@backstage/frontend-test-utils';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { act, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http } from 'msw';
import {
  certificate,
  exactJson,
  LONG_SERIAL,
  rfc822,
} from '../../__testUtils__/certificates';
import {
  FakeDirectoryApi,
  failure,
} from '../../__testUtils__/FakeDirectoryApi';
import { renderDirectory } from '../../__testUtils__/renderDirectory';
import type { OperationName } from '../../api/useDirectoryQuery';

const server = new FakeDirectoryApi();
registerMswTestHooks(server.msw);

beforeEach(() => server.hasCurrentUser('officer'));
afterEach(() => jest.restoreAllMocks());

describe('RevokeButton', () => {
  const revoke = () =>
    screen.queryByRole('button', { name: 'Revoke certificate' });

  async function open(given: Parameters<typeof certificate>[0] = {}) {
    const result = certificate({ valid_not_after: rfc822(300), ...given });
    server.on('/certs/:serial/', () => exactJson({ result }));
    renderDirectory(`/directory/certificates/${LONG_SERIAL}`);
    await screen.findByRole('button', { name: 'Download' });
  }

  it('is visible to users who may revoke', async () => {
    server.allows('directory.read', 'directory.certificate.revoke');
    await open();
    await waitFor(() => expect(revoke()).toBeVisible());
  });

  it('is hidden when the CA cannot revoke, and the page says so', async () => {
    server.hasCurrentUser('alice');
    server.allowsWith(
      { can_revoke: false, can_hold: false },
      'directory.read',
      'directory.certificate.revoke',
    );
    await open();
    expect(
      await screen.findByText(
        'This certificate cannot be revoked. It stays valid until it expires.',
      ),
    ).toBeVisible();
    expect(revoke()).toBeNull();
  });

  it("is hidden when the user's allowed operations cannot be loaded", async () => {
    server.on('/me/operations/', () =>
      failure(503, { message: 'Unavailable' }),
    );
    await open();
    expect(revoke()).toBeNull();
  });

  it.each([
    ['expired', { valid_not_after: rfc822(-1) }],
    ['revoked', { revoked: true }],
  ])('is hidden when the certificate is %s', async (_, given) => {
    server.allows('directory.certificate.revoke');
    await open(given);
    expect(revoke()).toBeNull();
  });
});

describe('RevokeDialog', () => {
  const path = `/directory/certificates/${LONG_SERIAL}`;
  const usable = {
    valid_not_before: rfc822(-300),
    valid_not_after: rfc822(300),
  };

  /** Serves a certificate that can be revoked and records the reasons. */
  function serveRevocation(
    options: {
      rejects?: 400 | 401 | 403;
      reason?: 'recent_sign_in_required';
      operations?: OperationName[];
    } = {},
  ) {
    const {
      rejects = 0,
      reason,
      operations = ['directory.certificate.revoke'],
    } = options;
    const reasons: unknown[] = [];
    server.allows(...operations);
    let state: Partial<Certificate> = { ...usable };
    const result = () => exactJson({ result: certificate(state) });
    server.on('/certs/:serial/', result);
    server.msw.use(
      http.post(
        'http://localhost:7007/api/directory/v1/certs/:serial/revocation/',
        async ({ request }) => {
          reasons.push(await request.json());
          if (rejects) {
            return failure(rejects, {
              message: 'The CA rejects the revocation',
              reason,
            });
          }
          state = { ...usable, revoked: true, revocation_reason: 4 };
          return result();
        },
      ),
    );
    return reasons;
  }

  async function openDialog() {
    const user = userEvent.setup();
    renderDirectory(path);
    await user.click(
      await screen.findByRole('button', { name: 'Revoke certificate' }),
    );
    return { user, dialog: within(await screen.findByRole('dialog')) };
  }

  it('identifies the certificate, requires a reason and shows the revocation', async () => {
    const reasons = serveRevocation();
    const { user, dialog } = await openDialog();
    expect(
      dialog.getByText('Signing in to servers and websites'),
    ).toBeVisible();
    expect(dialog.getByText(String(LONG_SERIAL))).toBeVisible();
    expect(dialog.getByText('alice')).toBeVisible();
    const confirm = dialog.getByRole('button', { name: 'Revoke certificate' });
    expect(confirm).toBeDisabled();

    await user.click(dialog.getByText('Another certificate has replaced it'));
    await user.click(confirm);
    expect(
      await screen.findByText('This certificate is revoked'),
    ).toBeVisible();
    const notice = screen
      .getAllByRole('status')
      .find(({ textContent }) => textContent?.includes('is revoked'));
    await waitFor(() => expect(notice).toHaveFocus());
    expect(reasons).toEqual([{ reason: 'superseded' }]);
    expect(screen.queryByRole('dialog')).toBeNull();
    expect(
      screen.queryByRole('button', { name: 'Revoke certificate' }),
    ).toBeNull();
  });

  it.each([400, 403] as const)(
    'keeps the reason when the response is %i',
    async rejects => {
      server.hasCurrentUser('alice');
      serveRevocation({ rejects, operations: [] });
      const { user, dialog } = await openDialog();
      const chosen = dialog.getByRole('radio', { name: /no longer needed/ });
      await user.click(chosen);
      await user.click(
        dialog.getByRole('button', { name: 'Revoke certificate' }),
      );
      expect(await dialog.findByRole('alert')).toHaveTextContent(
        'The CA rejects the revocation',
      );
      expect(chosen).toBeChecked();
      expect(
        dialog.queryByRole('button', { name: 'Sign in again' }),
      ).toBeNull();
    },
  );

  it('repeats the revocation when the owner signs in again', async () => {
    server.hasCurrentUser('alice');
    const reasons = serveRevocation({
      rejects: 403,
      reason: 'recent_sign_in_required',
      operations: [],
    });
    const { user, dialog } = await openDialog();
    const chosen = dialog.getByRole('radio', { name: /no longer needed/ });
    await user.click(chosen);
    await user.click(
      dialog.getByRole('button', { name: 'Revoke certificate' }),
    );
    const alert = await dialog.findByRole('alert');
    expect(alert).toHaveTextContent(
      /^To revoke your certificate, you must have signed in recently\. Sign in again\. If you use Kerberos, get a new ticket first\.\s*Sign in again$/,
    );
    expect(chosen).toBeChecked();

    serveRevocation({ operations: [] });
    await user.click(within(alert).getByRole('button'));
    expect(
      await screen.findByText('This certificate is revoked'),
    ).toBeVisible();
    expect(reasons).toEqual([{ reason: 'cessationOfOperation' }]);
  });

  it('stays open when the session ends while the user chooses', async () => {
    serveRevocation();
    const { user, dialog } = await openDialog();
    const chosen = dialog.getByRole('radio', { name: /no longer needed/ });
    await user.click(chosen);

    let reloads = 0;
    server.on('/me/operations/', () => {
      reloads += 1;
      return failure(401, { message: 'Illegal token' });
    });
    const now = Date.now();
    jest.spyOn(Date, 'now').mockReturnValue(now + 60_000);
    act(() => {
      window.dispatchEvent(new Event('visibilitychange'));
    });
    await waitFor(() => expect(reloads).toBe(1));
    await act(async () => {}); // renders the error
    expect(chosen).toBeChecked();
    expect(chosen).toBeVisible();
  });

  it('keeps the reason when the session has ended', async () => {
    serveRevocation({ rejects: 401 });
    const { user, dialog } = await openDialog();
    const chosen = dialog.getByRole('radio', { name: /no longer needed/ });
    await user.click(chosen);
    await user.click(
      dialog.getByRole('button', { name: 'Revoke certificate' }),
    );
    expect(await dialog.findByRole('alert')).toHaveTextContent(
      'Your session has ended',
    );
    expect(chosen).toBeChecked();

    serveRevocation();
    await user.click(dialog.getByRole('button', { name: 'Sign in again' }));
    expect(
      await screen.findByText('This certificate is revoked'),
    ).toBeVisible();
  });
});
