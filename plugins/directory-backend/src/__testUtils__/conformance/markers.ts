import type { Realm } from '@directory-gateway/realm';
import { createHash } from 'node:crypto';
import type { UserField } from '../../directory/schema';
import { userDn } from './entries';

/** How a hidden field is written, round a text that stands nowhere else. */
const HIDDEN = {
  surname: { attribute: 'sn', value: mark => `O'${mark}` },
  givenname: { attribute: 'givenName', value: mark => `${mark} é` },
  human_name: { attribute: 'displayName', value: mark => `The ${mark}` },
  ircnicks: { attribute: 'fasIRCNick', value: mark => `irc:/${mark}` },
  locale: { attribute: 'fasLocale', value: mark => mark },
  timezone: { attribute: 'fasTimezone', value: mark => `Etc/${mark}` },
  gpgkeyids: { attribute: 'fasGPGKeyId', value: mark => mark },
  sshpubkeys: {
    attribute: 'ipaSshPubKey',
    value: mark => `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 ${mark}@laptop`,
  },
  github_username: { attribute: 'fasGitHubUsername', value: mark => mark },
  gitlab_username: { attribute: 'fasGitLabUsername', value: mark => mark },
  pronouns: { attribute: 'fasPronoun', value: mark => mark },
  websites: {
    attribute: 'fasWebsiteUrl',
    value: mark => `https://${mark}.example.org/?a=(b)*`,
  },
  rssurls: {
    attribute: 'fasRssUrl',
    value: mark => `https://${mark}.example.org/feed`,
  },
} as const satisfies Partial<
  Record<
    UserField,
    { readonly attribute: string; readonly value: (mark: string) => string }
  >
>;

/** A field that a private profile hides. */
export type HiddenField = keyof typeof HIDDEN;

/** Every field that a private profile hides. */
export const hiddenFields = Object.keys(HIDDEN) as readonly HiddenField[];

/** A text that only one field of one person contains. */
export interface Marker {
  readonly owner: string;
  readonly field: HiddenField;
  readonly text: string;
  /** The field's value, which contains it. */
  readonly value: string;
}

/** Makes people private, with a {@link Marker} in each field that this hides. */
export async function plantMarkers(
  realm: Realm,
  owners: readonly string[],
): Promise<readonly Marker[]> {
  const markers = owners.flatMap(owner =>
    hiddenFields.map(field => {
      const digest = createHash('sha256').update(`${owner} ${field}`);
      const text = `zq${digest.digest('hex').slice(0, 16)}`;
      return { owner, field, text, value: HIDDEN[field].value(text) };
    }),
  );
  const changes = owners.map(owner => {
    const own = markers.filter(marker => marker.owner === owner);
    return [
      `dn: ${userDn(owner)}`,
      'changetype: modify',
      'replace: fasIsPrivate',
      'fasIsPrivate: TRUE',
      ...own.flatMap(({ field, value }) => [
        '-',
        `replace: ${HIDDEN[field].attribute}`,
        `${HIDDEN[field].attribute}:: ${Buffer.from(value).toString('base64')}`,
      ]),
      '',
      '',
    ].join('\n');
  });
  await realm.modify(changes.join(''));
  return markers;
}

/** Parameters of `/search/users/` that match parts of a value. */
const SUBSTRING: Partial<Record<HiddenField, string>> = {
  surname: 'surname',
  givenname: 'givenname',
  human_name: 'human_name',
  ircnicks: 'ircnick',
};

/** Parameters that match whole values. */
const EXACT: Partial<Record<HiddenField, string>> = {
  github_username: 'github_username',
  gitlab_username: 'gitlab_username',
  websites: 'website',
  rssurls: 'rssurl',
};

/** Each query that would find the owner of a marker by it, if any can. */
export function markerSearches({
  field,
  text,
  value,
}: Marker): readonly string[] {
  const whole = encodeURIComponent(value.toUpperCase());
  const substring = SUBSTRING[field];
  const exact = EXACT[field];
  return [
    ...(substring
      ? [
          `${substring}=${text}`,
          `${substring}=${text.slice(2, 9)}`,
          `${substring}__exact=${whole}`,
        ]
      : []),
    ...(exact ? [`${exact}=${whole}`, `${exact}__exact=${whole}`] : []),
  ];
}
