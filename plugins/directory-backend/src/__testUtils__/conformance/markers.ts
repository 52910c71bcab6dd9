import type { Realm } from '@directory-gateway/realm';
import { createHash } from 'node:crypto';
import type { UserField } from '../../directory/schema';
import { userDn } from './entries';

/** Attribute of each hidden field, and its value around a unique text. */
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

/** Name of a field that private profiles hide. */
export type HiddenField = keyof typeof HIDDEN;

/** The fields that private profiles hide. */
export const hiddenFields = Object.keys(HIDDEN) as readonly HiddenField[];

/** A text that occurs in only one field of one user. */
export interface Marker {
  readonly owner: string;
  readonly field: HiddenField;
  readonly text: string;
  /** Value of the field, which contains the text. */
  readonly value: string;
}

/** Makes users private and sets a {@link Marker} in each hidden field. */
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
