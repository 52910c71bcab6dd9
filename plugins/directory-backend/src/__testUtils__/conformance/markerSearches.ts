import type { HiddenField, Marker } from './markers';

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
