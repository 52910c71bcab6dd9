export { DirectoryPage, type DirectoryPageProps } from './DirectoryPage';
export { readable } from './readable';
export { SideBySide, type SideBySideProps } from './SideBySide';
export { TableGround } from './TableGround';
