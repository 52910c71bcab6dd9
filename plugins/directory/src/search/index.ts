export { isTooShort } from './isTooShort';
export { readPage, writePage } from './pageInUrl';
export { Results, type ResultsProps } from './Results';
export { TextSearch, type TextSearchProps } from './TextSearch';
export { useDebounced } from './useDebounced';
export { type Ask, type QuestionFormat, useQuestion } from './useQuestion';
