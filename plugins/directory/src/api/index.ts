export { directoryApi } from './directoryApi';
export { directoryApiRef, type DirectoryApi } from './directoryApiRef';
export { retryDelay } from './retryDelay';
export {
  useDirectoryQuery,
  type DirectoryQueryOptions,
} from './useDirectoryQuery';
export { type OperationName, useMay, useOperations } from './useOperations';
export { useReader, useReaderQuery } from './useReader';
