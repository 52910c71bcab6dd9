import { renderInTestApp } from '@backstage/frontend-test-utils';
import { screen } from '@testing-library/react';
import { aGroup } from '../__testUtils__/groups';
import { SCRIPT_URL } from '../__testUtils__/people';
import { LinkIcons } from './LinkIcons';

describe('LinkIcons', () => {
  it('leads to what is safe, and says where', async () => {
    renderInTestApp(
      <LinkIcons
        group={aGroup({
          groupname: 'packager',
          url: 'https://packagers.example.test/',
          discussion_url: SCRIPT_URL,
          irc: ['irc:///#packagers', 'come to room 3'],
        })}
      />,
    );

    const links = await screen.findAllByRole('link', { name: /of packager/ });
    expect(
      links.map(link => [
        link.getAttribute('aria-label'),
        link.getAttribute('href'),
      ]),
    ).toEqual([
      [
        'Website of packager: packagers.example.test',
        'https://packagers.example.test/',
      ],
      ['IRC channel of packager: #packagers', 'irc:///%23packagers'],
    ]);
  });
});
