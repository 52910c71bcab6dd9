/**
 * Default permission policy for a portal with the directory gateway.
 *
 * @packageDocumentation
 */
export { permissionModuleDirectory as default } from './module';
