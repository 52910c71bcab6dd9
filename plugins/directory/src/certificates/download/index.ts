export { chainFile, pemFile } from './certificateFiles';
export { fromPem } from './fromPem';
export { reminderFile } from './reminderFile';
export { saveFile, type SavedFile } from './saveFile';
export { toPem } from './toPem';
