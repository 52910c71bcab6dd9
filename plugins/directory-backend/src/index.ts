/**
 * The directory gateway's backend plugin.
 *
 * @packageDocumentation
 */
export { directoryPlugin as default } from './plugin';
export { USERNAME_ANNOTATION } from './directory/PortalUserNames';
