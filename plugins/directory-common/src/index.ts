/**
 * The directory gateway's contract as code: the OpenAPI document, its types, a
 * typed client and the permissions.
 *
 * @packageDocumentation
 */
export * from './client';
export type * from './errorBodies';
export type { components, operations, paths } from './generated/openapi';
export * from './openApiDocument';
export * from './permissions';
export type * from './records';
