export * from '../createDirectoryClient';
export type * from '../DirectoryClient';
export * from '../DirectoryResponseError';
export type { FetchByUrl } from '../createDirectoryClient';
export * from '../paginate';
