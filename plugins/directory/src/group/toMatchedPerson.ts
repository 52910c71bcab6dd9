import type { MaskedMember } from '@directory-gateway/backstage-plugin-directory-common';
import { type FoundPerson, PERSON_FIELDS } from '../people/peopleQuery';
import type { Match, MatchedPerson } from '../people/searchPeople';

/** What is asked about members and sponsors: they are never locked. */
export const MEMBER_MASK = PERSON_FIELDS.filter(
  field => field !== 'locked',
).join(',');

/**
 * A member or a sponsor, asked for with {@link MEMBER_MASK}, as the lists of
 * people show them; the text that was looked for is marked.
 */
export function toMatchedPerson(
  member: MaskedMember,
  text = '',
): MatchedPerson {
  const person = { ...member, locked: false } as FoundPerson;
  const wanted = text.toLowerCase();
  const matches = text
    ? (['username', 'human_name'] as const).flatMap((field): Match[] => {
        const value = person[field];
        return value?.toLowerCase().includes(wanted)
          ? [{ field, text, value }]
          : [];
      })
    : [];
  return { person, matches };
}
