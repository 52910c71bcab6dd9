import { render, screen } from '@testing-library/react';
import { app } from './App';

// The app reads its configuration from here when no server has put it into
// the page. It is an array, which the real process.env would make a string.
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
  it('shows its title and asks who is there', async () => {
    jest.replaceProperty(
      process,
      'env',
      Object.assign({}, process.env, { APP_CONFIG }),
    );

    render(app.createRoot());

    expect(
      await screen.findByRole('heading', { name: 'Directory gateway' }),
    ).toBeInTheDocument();
    // No server answers here, and the page says so rather than wait.
    expect(
      await screen.findByRole('button', { name: 'Try again' }),
    ).toBeEnabled();
  });
});
