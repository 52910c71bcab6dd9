import { registerMswTestHooks } from '@backstage/frontend-test-utils';
import { screen, waitFor } from '@testing-library/react';
import {
  aCertificate,
  exactJson,
  LONG_SERIAL,
  rfc822,
} from '../../__testUtils__/certificates';
import { DirectoryServer, failure } from '../../__testUtils__/DirectoryServer';
import { renderDirectory } from '../../__testUtils__/renderDirectory';

const server = new DirectoryServer();
registerMswTestHooks(server.msw);

describe('RevokeButton', () => {
  const revoke = () => screen.queryByRole('button', { name: 'Revoke' });

  async function open(given: Parameters<typeof aCertificate>[0] = {}) {
    const result = aCertificate({ valid_not_after: rfc822(300), ...given });
    server.on('/certs/:serial/', () => exactJson({ result }));
    renderDirectory(`/directory/certificates/${LONG_SERIAL}`);
    await screen.findByRole('button', { name: 'Certificate (PEM)' });
  }

  it('is shown to users who may revoke', async () => {
    server.allows('directory.read', 'directory.certificate.revoke');
    await open();
    await waitFor(() => expect(revoke()).toBeVisible());
  });

  it('is hidden from users who may not', async () => {
    server.allows('directory.read', 'directory.certificate.sign');
    await open();
    await waitFor(() =>
      expect(server.asked.map(({ path }) => path)).toContain('/me/operations/'),
    );
    expect(revoke()).toBeNull();
  });

  it('is hidden while the operations of the user cannot be loaded', async () => {
    server.on('/me/operations/', () => failure(503, { message: 'Away' }));
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
