import { isFiltered, type PeopleQuestion } from './peopleQuery';
import { readSearchText, type SearchTerm } from './readSearchText';

/** What the page of people is to show. */
export type PeopleTask =
  | { kind: 'tooShort' }
  | { kind: 'fields'; terms: SearchTerm[]; canWiden: boolean }
  | { kind: 'field'; term: SearchTerm; terms: SearchTerm[]; canWiden: boolean }
  | { kind: 'filtered' }
  | { kind: 'everybody' }
  | { kind: 'mine' };

/** Decides what a question asks for. */
export function readTask(question: PeopleQuestion): PeopleTask {
  const plan = readSearchText(question.text, question);
  if (plan.kind === 'tooShort') {
    return plan;
  }
  if (plan.kind === 'nothing') {
    if (isFiltered(question)) {
      return { kind: 'filtered' };
    }
    return { kind: question.everybody ? 'everybody' : 'mine' };
  }
  const { terms, canWiden } = plan;
  const [first, second] = terms;
  const only = terms.find(({ field }) => field === question.only);
  return only || !second
    ? { kind: 'field', term: only ?? first, terms, canWiden }
    : { kind: 'fields', terms, canWiden };
}
