/**
 * The command `directory-doctor`, which checks a portal with the directory
 * gateway.
 *
 * @packageDocumentation
 */
export { main } from './main';
