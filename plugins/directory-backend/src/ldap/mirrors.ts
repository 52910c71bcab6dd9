import type { LoggerService } from '@backstage/backend-plugin-api';
import { metrics } from '@opentelemetry/api';
import type { Entry } from 'ldapts';
import { isGroupName, isUserName } from '../directory/names';
import type { DirectorySchema } from '../directory/schema';
import type { Containers } from './containers';
import { createMembershipMirror } from './createMembershipMirror';
import { normalizeDn } from './DistinguishedName';
import { booleanOf, textOf, textsOf } from './entryValues';
import { isA } from './filters';
import type { LdapReader } from './LdapReader';
import type { GroupNames } from '../directory/GroupLinks';
import { MirroredEntries, type MirrorServices } from './MirroredEntries';
import type { ServedName } from './ServedNames';
import { UsnClock } from './UsnClock';

/** An agreement (freeipa-fas), and who has signed it. */
export interface MirroredAgreement {
  readonly name: string;
  readonly enabled: boolean;
  /**
   * Normalized names of the users in `memberUser`. Groups that are linked to
   * an agreement stand in its `member`, which is no signature.
   */
  readonly signers: ReadonlySet<string>;
}

/** The mirrors of one directory, on one clock. */
export interface Mirrors {
  readonly clock: UsnClock;
  readonly users: MirroredEntries<ServedName>;
  readonly groups: MirroredEntries<ServedName>;
  readonly agreements: MirroredEntries<MirroredAgreement>;
  readonly memberships: MirroredEntries<GroupNames>;
  /** Drops what was read. */
  forget(): void;
}

/** Mirrors what lists need to know: names, locks, signatures and members. */
export function createMirrors(options: {
  readonly reader: LdapReader;
  readonly schema: DirectorySchema;
  readonly containers: Containers;
  readonly logger: LoggerService;
  /** As {@link MirrorServices.comparisonIntervalMs}. */
  readonly comparisonIntervalMs?: number;
}): Mirrors {
  const { schema, containers } = options;
  const clock = new UsnClock(options);
  const services: MirrorServices = { ...options, clock };
  const uid = schema.users.username.attribute!;
  const lock = schema.users.locked.attribute!;
  const cn = schema.groups.groupname.attribute!;
  const unnamed = metrics
    .getMeter('directory')
    .createCounter('directory.entries.unnamed', {
      description: 'Entries that are not served because of their name',
    });
  const served = (
    name: string | undefined,
    isName: (text: string) => boolean,
    locked: boolean,
  ): ServedName | undefined => {
    if (name === undefined || !isName(name)) {
      unnamed.add(1);
      return undefined;
    }
    return { name, locked };
  };
  const mirrors = {
    users: new MirroredEntries(services, {
      container: containers.users,
      filter: isA(schema.userClass),
      attributes: [uid, lock],
      decode: entry =>
        served(textOf(entry, uid), isUserName, booleanOf(entry, lock) ?? false),
    }),
    groups: new MirroredEntries(services, {
      container: containers.groups,
      filter: isA(schema.groupClass),
      attributes: [cn],
      decode: entry => served(textOf(entry, cn), isGroupName, false),
    }),
    agreements: new MirroredEntries(services, {
      container: containers.agreements,
      filter: isA('fasAgreement'),
      attributes: ['cn', 'ipaEnabledFlag', 'memberUser'],
      decode: decodeAgreement,
    }),
    memberships: createMembershipMirror(services, { schema, containers }),
  };
  return {
    clock,
    ...mirrors,
    forget() {
      for (const mirror of Object.values(mirrors)) {
        mirror.forget();
      }
    },
  };
}

/** An agreement; without a name it is none. */
export function decodeAgreement(entry: Entry): MirroredAgreement | undefined {
  const name = textOf(entry, 'cn');
  return name === undefined
    ? undefined
    : {
        name,
        enabled: booleanOf(entry, 'ipaEnabledFlag') ?? false,
        signers: new Set(textsOf(entry, 'memberUser').map(normalizeDn)),
      };
}
