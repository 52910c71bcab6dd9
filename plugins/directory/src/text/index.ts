export { DirectoryText, type DirectoryTextProps } from './DirectoryText';
export { visibleText } from './visibleText';
