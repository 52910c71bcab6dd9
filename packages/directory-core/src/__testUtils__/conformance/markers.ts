import type { Realm } from '@directory-gateway/realm';
import { createHash } from 'node:crypto';
import {
  hiddenFieldNames,
  type UserField,
  userFields,
} from '../../directory/schema';
import { userDn } from './entries';

/** Values around a unique text, of fields whose value is not the text alone. */
const VALUES: Readonly<Partial<Record<UserField, (mark: string) => string>>> = {
  surname: mark => `O'${mark}`,
  givenname: mark => `${mark} é`,
  human_name: mark => `The ${mark}`,
  ircnicks: mark => `irc:/${mark}`,
  timezone: mark => `Etc/${mark}`,
  sshpubkeys: mark => `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 ${mark}@laptop`,
  websites: mark => `https://${mark}.example.org/?a=(b)*`,
  rssurls: mark => `https://${mark}.example.org/feed`,
};

/** A text that occurs in only one field of one user. */
export interface Marker {
  readonly owner: string;
  readonly field: UserField;
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
    hiddenFieldNames.map(field => {
      const digest = createHash('sha256').update(`${owner} ${field}`);
      const text = `zq${digest.digest('hex').slice(0, 16)}`;
      return { owner, field, text, value: VALUES[field]?.(text) ?? text };
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
        `replace: ${userFields[field].attribute}`,
        `${userFields[field].attribute}:: ${Buffer.from(value).toString(
          'base64',
        )}`,
      ]),
      '',
      '',
    ].join('\n');
  });
  await realm.modify(changes.join(''));
  return markers;
}
