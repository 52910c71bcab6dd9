import type { SearchTerm } from './readSearchText';
import { type FoundPerson, type SearchField, valuesOf } from './searchFields';
import type { PeoplePageData } from './searchPeople';

/** What a search in one field brought. */
export type FieldAnswer = { term: SearchTerm } & (
  | { page: PeoplePageData; error?: undefined }
  | { page?: undefined; error: unknown }
);

/** Why somebody is in the results: a field, and its value. */
export interface Match {
  field: SearchField;
  /** What was looked for, to mark it in the value. */
  text: string;
  value: string;
}

/** Somebody in the results, and everything that is known to have matched. */
export interface MatchedPerson {
  person: FoundPerson;
  matches: Match[];
}

/** The matches in one field that no earlier field has. */
export interface MatchSection {
  /** Nothing when no text was looked for. */
  field: SearchField | undefined;
  people: MatchedPerson[];
  /** Matches in this field, on all pages. */
  total: number;
  /** How many of the matches that were loaded an earlier section shows. */
  shownAbove: number;
  error?: unknown;
}

/** The results of all fields. */
export interface MergedMatches {
  sections: MatchSection[];
  /** How many people were found: exactly, or at the least. */
  count: number;
  isExact: boolean;
}

/**
 * Puts the answers of several fields together: everybody appears once, in the
 * section of the first field that matched, with all that matched. Counts stay
 * those of the server: only when every answer is complete is the number of
 * people known exactly.
 */
export function mergeMatches(answers: readonly FieldAnswer[]): MergedMatches {
  const found = new Map<string, MatchedPerson>();
  const sections = answers.map(({ term, page, error }): MatchSection => {
    const section: MatchSection = {
      field: term.field,
      people: [],
      total: page?.total ?? 0,
      shownAbove: 0,
      error,
    };
    for (const person of page?.people ?? []) {
      const match = matchOf(person, term);
      const known = found.get(person.username);
      if (known) {
        known.matches.push(match);
        section.shownAbove += 1;
      } else {
        const matched = { person, matches: [match] };
        found.set(person.username, matched);
        section.people.push(matched);
      }
    }
    return section;
  });
  const isExact = answers.every(
    ({ page }) => page && page.people.length >= page.total,
  );
  return {
    sections,
    isExact: isExact || answers.length === 1,
    count: Math.max(found.size, ...sections.map(({ total }) => total)),
  };
}

/** A list that no text was looked for in, in the shape of results. */
export function withoutMatches({ people, total }: PeoplePageData) {
  const section: MatchSection = {
    field: undefined,
    people: people.map(person => ({ person, matches: [] })),
    total,
    shownAbove: 0,
  };
  return { sections: [section], isExact: true, count: total };
}

/** The value that matched: the server folds more than case, so maybe another. */
function matchOf(person: FoundPerson, term: SearchTerm): Match {
  const values = valuesOf(person, term.field);
  const wanted = term.value.toLowerCase();
  const value = values.find(text => text.toLowerCase().includes(wanted));
  return {
    field: term.field,
    text: term.value,
    value: value ?? values[0] ?? '',
  };
}
