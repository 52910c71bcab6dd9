export { directoryApi } from './directoryApi';
export { directoryApiRef, type DirectoryApi } from './directoryApiRef';
export { retryDelay } from './retryDelay';
export {
  useDirectoryQuery,
  type DirectoryQueryOptions,
} from './useDirectoryQuery';
export { useReader, useReaderQuery } from './useReader';
