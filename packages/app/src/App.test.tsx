import { render, screen } from '@testing-library/react';
import { app } from './App';

// The app reads its configuration from here when the page does not contain it.
// The value is an array, which the real process.env would convert to a string.
const APP_CONFIG = [
  {
    context: 'test',
    data: {
      app: { title: 'Directory gateway', baseUrl: 'http://localhost' },
      backend: { baseUrl: 'http://localhost' },
    },
  },
];

describe('App', () => {
  it('shows the sign-in page with the title of the portal', async () => {
    jest.replaceProperty(
      process,
      'env',
      Object.assign({}, process.env, { APP_CONFIG }),
    );

    render(app.createRoot());

    expect(
      await screen.findByRole('heading', { name: 'Directory gateway' }),
    ).toBeInTheDocument();
    // Without a server, the page shows an error instead of waiting.
    expect(
      await screen.findByRole('button', { name: 'Try again' }),
    ).toBeEnabled();
  });
});
