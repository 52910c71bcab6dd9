export * from './createDirectoryClient';
export type * from './DirectoryClient';
export * from './DirectoryResponseError';
export * from './paginate';
