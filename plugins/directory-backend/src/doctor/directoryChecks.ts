import {
  type DoctorCheck,
  type DoctorFinding,
  finding,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  accessRequirements,
  containersBelow,
  entryKinds,
  isNoSuchObject,
  isPresent,
  readMissingRights,
  readUnreadableAttributes,
  textsOf,
  trustedDn,
  UsnReader,
} from '@directory-gateway/ldap';
import type { DirectoryServers } from './DirectoryServers';

async function checkBaseDn(servers: DirectoryServers): Promise<DoctorFinding> {
  const { baseDn, searcher } = await servers.open();
  const read = (base: string, attributes: readonly string[]) =>
    searcher.search({
      base: trustedDn(base),
      scope: 'base',
      filter: isPresent('objectClass'),
      attributes,
    });
  try {
    await read(containersBelow(baseDn).users, ['1.1']);
    return finding.ok(baseDn);
  } catch (error) {
    if (!isNoSuchObject(error)) {
      throw error;
    }
    const { entries } = await read('', ['namingContexts']);
    const contexts = entries
      .flatMap(entry => textsOf(entry, 'namingContexts'))
      .filter(name => /^dc=[\w-]+(?:,dc=[\w-]+)*$/i.test(name));
    return finding.fail(
      `The directory has no users below ${baseDn} (directory.ldap.baseDn)`,
      contexts.length > 0
        ? `set directory.ldap.baseDn: ${contexts.join(' or ')}`
        : 'set directory.ldap.baseDn to the suffix of FreeIPA: ipa env basedn',
    );
  }
}

async function checkSchema(servers: DirectoryServers): Promise<DoctorFinding> {
  const { schema, reader } = await servers.open();
  const missing = await reader.schemaVerifier.findMissing();
  if (missing.length === 0) {
    return finding.ok('All attributes and object classes exist');
  }
  const fields = { ...schema.users, ...schema.groups };
  const mapped = Object.entries(fields).filter(([, { attribute }]) =>
    missing.includes(attribute?.split(';')[0] ?? ''),
  );
  return finding.fail(
    `The directory's schema lacks ${missing.join(', ')}`,
    missing.includes('fasUser')
      ? 'install freeipa-fas on the FreeIPA servers, or set directory.schema: freeipa'
      : `correct ${
          mapped.map(([field]) => `directory.attributes.${field}`).join(', ') ||
          'directory.schema'
        }`,
  );
}

/** Options of `ipa permission-add` for the entries of each kind. */
function targetOf(kind: string, baseDn: string): string {
  const types: Record<string, string> = { users: 'user', groups: 'group' };
  return types[kind]
    ? `--type=${types[kind]}`
    : `--subtree='${containersBelow(baseDn).agreements}'`;
}

/**
 * Returns the FreeIPA command that lets all accounts read and search
 * attributes.
 *
 * @param options - `target`: an option such as `--type=user`
 */
function permissionCommand(options: {
  readonly name: string;
  readonly attributes: readonly string[];
  readonly target: string;
}): string {
  const { name, attributes, target } = options;
  // The shell expands braces only around several words.
  const list =
    attributes.length === 1 ? attributes[0] : `{${attributes.join(',')}}`;
  return `ipa permission-add '${name}' --bindtype=all --right={read,search,compare} --attrs=${list} ${target}`;
}

function permissionFor(
  kind: string,
  attributes: readonly string[],
  baseDn: string,
): string {
  return permissionCommand({
    name: `Read ${attributes.join(' ')} of ${kind}`,
    attributes,
    target: targetOf(kind, baseDn),
  });
}

async function checkRights(servers: DirectoryServers): Promise<DoctorFinding> {
  const context = await servers.open();
  const { baseDn, bindDn, schema } = context;
  const results = await Promise.all(
    accessRequirements(schema, baseDn).map(async requirement => ({
      ...requirement,
      ...(await readMissingRights(context, requirement)),
    })),
  );
  const lacking = results.filter(({ missing }) => missing.length > 0);
  if (lacking.length > 0) {
    return finding.fail(
      `${bindDn} may not read and search ${lacking
        .map(({ kind, missing }) => `${missing.join(', ')} of ${kind}`)
        .join(' and ')}; every request gets 503`,
      ...lacking.map(({ kind, missing }) =>
        permissionFor(kind, missing, baseDn),
      ),
    );
  }
  const absent = results.flatMap(({ absentClass }) => absentClass ?? []);
  const required = results.flatMap(({ attributes }) => attributes).join(', ');
  return finding.ok(
    absent.length > 0
      ? `${required}; there is no ${absent.join(' and no ')} entry yet`
      : required,
  );
}

/** Fields whose attributes the account may not read are always absent. */
async function checkFields(servers: DirectoryServers): Promise<DoctorFinding> {
  const context = await servers.open();
  const { baseDn, bindDn, schema } = context;
  const containers = containersBelow(baseDn);
  const kinds = entryKinds({ schema, containers });
  const classes = [
    ['users', schema.userClass],
    ['groups', schema.groupClass],
    ['agreements', 'fasAgreement'],
  ] as const;
  const results = await Promise.all(
    classes.flatMap(([kind, objectClass]) => {
      const read = kinds[kind];
      if (!read) {
        return [];
      }
      return [
        readUnreadableAttributes(context, read.container, {
          objectClass,
          // Rights apply to the attribute without options such as `;binary`.
          attributes: read.attributes.map(name => name.split(';')[0]),
        }).then(missing => ({ kind, missing })),
      ];
    }),
  );
  const lacking = results.filter(({ missing }) => missing.length > 0);
  return lacking.length === 0
    ? finding.ok('All attributes of the API are readable')
    : finding.warn(
        `${bindDn} may not read ${lacking
          .map(({ kind, missing }) => `${missing.join(', ')} of ${kind}`)
          .join(' and ')}; the fields are always absent`,
        ...lacking.map(({ kind, missing }) =>
          permissionFor(kind, missing, baseDn),
        ),
      );
}

async function checkUsn(servers: DirectoryServers): Promise<DoctorFinding> {
  const { reader, source } = await servers.open();
  const { usn, server } = await new UsnReader({ reader }).read();
  const consequence = 'so the replica reads all entries again each minute';
  if (usn === undefined) {
    return finding.warn(
      `${server} has no USNs (update sequence numbers), ${consequence}`,
      `dsconf -D 'cn=Directory Manager' ${server} plugin usn enable, then on the server: systemctl restart dirsrv.target`,
    );
  }
  return (await source.position()).value === undefined
    ? finding.warn(
        `The service account may not search for entryusn, ${consequence}`,
        // FreeIPA adds `entryusn` to permissions to read `objectClass`.
        ...['user', 'group'].map(type =>
          permissionCommand({
            name: `Read USNs of ${type}s`,
            attributes: ['objectclass'],
            target: `--type=${type}`,
          }),
        ),
      )
    : finding.ok(`lastusn ${usn}`);
}

/** Checks of the directory's content and of the service account's rights. */
export function directoryChecks(
  servers: DirectoryServers,
): readonly DoctorCheck[] {
  return [
    {
      id: 'base-dn',
      after: ['ldap-bind'],
      run: () => checkBaseDn(servers),
    },
    { id: 'ldap-schema', after: ['base-dn'], run: () => checkSchema(servers) },
    {
      id: 'ldap-rights',
      after: ['ldap-schema'],
      run: () => checkRights(servers),
    },
    {
      id: 'ldap-fields',
      after: ['ldap-rights'],
      run: () => checkFields(servers),
    },
    { id: 'usn', after: ['ldap-rights'], run: () => checkUsn(servers) },
  ];
}
