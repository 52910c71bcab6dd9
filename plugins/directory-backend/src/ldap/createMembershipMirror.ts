import type { DirectorySchema } from '../directory/schema';
import type { Containers } from './containers';
import { normalizeDn } from './DistinguishedName';
import { textsOf } from './entryValues';
import { any, isA, isPresent } from './filters';
import type { GroupNames } from '../directory/GroupLinks';
import { MirroredEntries, type MirrorServices } from './MirroredEntries';

/**
 * Mirrors who is in which group, served or not: a served one can be nested in,
 * or sponsored by, groups that are not.
 */
export function createMembershipMirror(
  services: MirrorServices,
  options: {
    readonly schema: DirectorySchema;
    readonly containers: Containers;
  },
): MirroredEntries<GroupNames> {
  const { schema, containers } = options;
  return new MirroredEntries(services, {
    container: containers.groups,
    filter: any([isA(schema.groupClass), isPresent('member')]),
    attributes: ['member', 'memberManager'],
    decode: entry => ({
      members: textsOf(entry, 'member').map(normalizeDn),
      sponsors: textsOf(entry, 'memberManager').map(normalizeDn),
    }),
  });
}
