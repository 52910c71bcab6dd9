export { DirectoryPage, type DirectoryPageProps } from './DirectoryPage';
export { readable } from './readable';
