import { registerMswTestHooks } from '@backstage/frontend-test-utils';
import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { FakeDirectoryApi, failure } from '../__testUtils__/FakeDirectoryApi';
import { karl } from '../__testUtils__/people';
import { renderDirectory } from '../__testUtils__/renderDirectory';

const server = new FakeDirectoryApi();
registerMswTestHooks(server.msw);

const EMAIL = 'karl@example.test';

beforeEach(() => server.hasCurrentUser('karl'));

function findSwitch(): Promise<HTMLElement> {
  return screen.findByRole('switch', { name: 'View as others see it' });
}

async function viewAsOthers() {
  renderDirectory('/directory/people/karl');
  const asOthers = await findSwitch();
  await waitFor(() => expect(asOthers).toBeEnabled());
  await userEvent.click(asOthers);
}

describe('the view of other users', () => {
  it('hides the fields that the gateway hides in private profiles', async () => {
    server.hasPerson({ ...karl, is_private: true });
    server.hides('emails', 'certificates');
    await viewAsOthers();
    expect(screen.queryByText(EMAIL)).toBeNull();
    expect(screen.queryByRole('tab', { name: /Certificates/ })).toBeNull();
    expect(screen.getByText('he/him')).toBeVisible();
    expect(
      screen.getByRole('heading', { level: 1, name: 'Karl Larsson' }),
    ).toBeVisible();
  });

  it('shows all fields of a public profile', async () => {
    server.hasPerson(karl);
    server.hides('emails');
    await viewAsOthers();
    expect(await findSwitch()).toBeChecked();
    expect(screen.getByText(EMAIL)).toBeVisible();
  });

  it('is not available when the hidden fields cannot be loaded', async () => {
    server.hasPerson({ ...karl, is_private: true });
    server.on('/me/operations/', () =>
      failure(503, { message: 'Unavailable' }),
    );
    renderDirectory('/directory/people/karl');
    expect(
      await screen.findByText(/hidden fields cannot be loaded/),
    ).toBeVisible();
    expect(await findSwitch()).toBeDisabled();
  });
});
