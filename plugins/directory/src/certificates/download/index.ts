export { chainFile, pemFile } from './certificateFiles';
export { fromPem } from './fromPem';
export { reminderFile } from './reminderFile';
export { toPem } from './toPem';
