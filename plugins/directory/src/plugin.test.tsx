import { renderTestApp } from '@backstage/frontend-test-utils';
import { screen } from '@testing-library/react';
import { directoryPlugin } from './plugin';

describe('directoryPlugin', () => {
  it.each([
    ['/directory', 'People'],
    ['/directory/people', 'People'],
    ['/directory/groups', 'Groups'],
    ['/directory/certificates', 'Certificates'],
    ['/directory/certificates/request', 'Request a certificate'],
  ])('shows %s with %s as the only h1', async (path, heading) => {
    renderTestApp({
      features: [directoryPlugin],
      initialRouteEntries: [path],
    });

    expect(await screen.findByRole('heading', { level: 1 })).toHaveTextContent(
      heading,
    );
  });
});
