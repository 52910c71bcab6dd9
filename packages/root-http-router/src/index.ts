/**
 * Backstage's root HTTP router with limits and checks in front of every plugin.
 *
 * @packageDocumentation
 */
export { rootHealth } from './rootHealth';
export { configureRootHttpRouter, rootHttpRouter } from './rootHttpRouter';
