import { mockApis, registerMswTestHooks } from '@backstage/frontend-test-utils';
import {
  AuthorizeResult,
  type EvaluatePermissionResponse,
} from '@backstage/plugin-permission-common';
import { screen } from '@testing-library/react';
import {
  aCertificate,
  exactJson,
  LONG_SERIAL,
  rfc822,
} from '../../../__testUtils__/certificates';
import { DirectoryServer } from '../../../__testUtils__/DirectoryServer';
import { renderDirectory } from '../../../__testUtils__/renderDirectory';

const server = new DirectoryServer();
registerMswTestHooks(server.msw);

// In a file of its own: decisions are remembered from test to test.
it('is not offered to those who may not revoke', async () => {
  const result = aCertificate({ valid_not_after: rfc822(300) });
  server.on('/certs/:serial/', () => exactJson({ result }));
  const denied: EvaluatePermissionResponse = { result: AuthorizeResult.DENY };
  const authorize = jest.fn(async () => denied);
  const path = `/directory/certificates/${LONG_SERIAL}`;
  renderDirectory(path, {}, [mockApis.permission.mock({ authorize })]);
  expect(
    await screen.findByRole('button', { name: 'Certificate (PEM)' }),
  ).toBeVisible();
  expect(authorize).toHaveBeenCalledWith({
    permission: expect.objectContaining({
      name: 'directory.certificate.revoke',
    }),
  });
  expect(screen.queryByRole('button', { name: 'Revoke' })).toBeNull();
});
