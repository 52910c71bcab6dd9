export { isTooShort } from './isTooShort';
export { readPage } from './readPage';
export { TextSearch, type TextSearchProps } from './TextSearch';
