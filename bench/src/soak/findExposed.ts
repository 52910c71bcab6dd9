/** What a private profile hides by default (docs/privacy.md). */
const HIDDEN = [
  ...['human_name', 'surname', 'givenname', 'ircnicks', 'locale', 'timezone'],
  ...['gpgkeyids', 'sshpubkeys', 'github_username', 'gitlab_username'],
  ...['pronouns', 'websites', 'rssurls'],
];

/**
 * The fields of private profiles that an answer shows to somebody else, as
 * `username.field`. Holds at any moment, whatever is being written: a record
 * says itself whether it is private.
 *
 * @param text - an answer; what is no JSON shows nothing that can be judged
 */
export function findExposed(text: string, caller: string): readonly string[] {
  const exposed: string[] = [];
  if (text.includes('"is_private":true')) {
    JSON.parse(text, (_key, value: unknown) => {
      if (isPrivateOfAnother(value, caller)) {
        const shown = HIDDEN.filter(field => (value[field] ?? null) !== null);
        exposed.push(...shown.map(field => `${value.username}.${field}`));
      }
      return value;
    });
  }
  return exposed;
}

function isPrivateOfAnother(
  value: unknown,
  caller: string,
): value is Record<string, unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'is_private' in value &&
    value.is_private === true &&
    !('username' in value && value.username === caller)
  );
}
