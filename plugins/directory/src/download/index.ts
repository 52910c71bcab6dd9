export { saveFile, type SavedFile } from './saveFile';
