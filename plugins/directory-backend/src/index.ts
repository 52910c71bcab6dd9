/**
 * The directory gateway's backend plugin.
 *
 * @packageDocumentation
 */
import './requireNode';

export { directoryPlugin as default } from './plugin';
export { USERNAME_ANNOTATION } from './portalUsers/PortalUserNames';
