export * from '../createDirectoryClient';
export type * from '../DirectoryClient';
export * from '../DirectoryResponseError';
export type { FetchByUrl } from '../fetchByUrl';
export * from '../paginate';
