export { DirectoryPage, type DirectoryPageProps } from './DirectoryPage';
