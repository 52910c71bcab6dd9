import { renderInTestApp } from '@backstage/frontend-test-utils';
import { screen } from '@testing-library/react';
import { group } from '../__testUtils__/groups';
import { SCRIPT_URL } from '../__testUtils__/people';
import { safeHref } from '../components/safeHref';
import { groupLinks, LinkIcons } from './groupLinks';

const nothing = {
  url: null,
  mailing_list: null,
  discussion_url: null,
  irc: null,
};

describe('groupLinks', () => {
  it('returns the links of a group with their kinds, in order', () => {
    expect(
      groupLinks({
        url: 'https://packagers.example.test/',
        mailing_list: 'packagers@lists.example.test',
        discussion_url: 'https://discuss.example.test/packagers',
        irc: [
          'irc:///#packagers',
          'ircs://irc.libera.chat/#fedora-devel',
          'matrix://example.test/#packagers',
          'matrix:/packagers',
          'come to room 3',
        ],
      }),
    ).toEqual([
      {
        kind: 'website',
        text: 'packagers.example.test',
        href: 'https://packagers.example.test/',
      },
      {
        kind: 'mailingList',
        text: 'packagers@lists.example.test',
        href: 'mailto:packagers@lists.example.test',
      },
      {
        kind: 'discussion',
        text: 'discuss.example.test/packagers',
        href: 'https://discuss.example.test/packagers',
      },
      { kind: 'ircChannel', text: '#packagers', href: 'irc:///%23packagers' },
      {
        kind: 'ircChannel',
        text: '#fedora-devel (irc.libera.chat)',
        href: 'ircs://irc.libera.chat/%23fedora-devel',
      },
      {
        kind: 'matrixRoom',
        text: '#packagers:example.test',
        href: 'https://matrix.to/#/%23packagers%3Aexample.test',
      },
      { kind: 'matrixRoom', text: '#packagers', href: undefined },
      { kind: 'channel', text: 'come to room 3', href: undefined },
    ]);
    expect(groupLinks(nothing)).toEqual([]);
  });

  it.each([SCRIPT_URL, 'data:text/html,x', 'file:///etc/passwd'])(
    'does not return a safe link for %s',
    url => {
      const links = groupLinks({
        url,
        mailing_list: url,
        discussion_url: url,
        irc: [url],
      });
      expect(links).toHaveLength(4);
      for (const { href } of links) {
        expect(safeHref(href ?? '')).toBeUndefined();
      }
    },
  );
});

describe('LinkIcons', () => {
  it('shows safe links with their targets', async () => {
    renderInTestApp(
      <LinkIcons
        group={group({
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
