import {
  access,
  copyFile,
  cp,
  mkdir,
  readFile,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import type { Account } from '../processes/Account';
import type { RealmLayout } from '../RealmLayout';

const INSTALLED_DATA = '/usr/share/dirsrv';
const INSTALLED_CONFIG = '/etc/dirsrv';

/**
 * What an instance starts from, and what does where the installed file cannot
 * be read: Debian shows `/etc/dirsrv` to the account `dirsrv` only.
 */
const SEEDS: Readonly<Record<string, string>> = {
  'config/certmap.conf': 'certmap default default\n',
  'config/slapd-collations.conf': '',
  'schema/99user.ldif':
    'dn: cn=schema\nobjectClass: top\nobjectClass: subschema\n',
};

/**
 * Lays out a root folder in which dscreate makes an instance as an ordinary
 * user. `dscreate ds-root` does the same, but only for who may read
 * `/etc/dirsrv` (lib389/cli_ctl/instance.py, prepare_ds_root).
 *
 * @returns the environment in which dscreate takes that root for its own
 */
export async function prepareInstanceRoot(
  { instance }: RealmLayout,
  account: Account,
): Promise<Record<string, string>> {
  await cp(INSTALLED_DATA, join(instance, 'share/dirsrv'), { recursive: true });
  await mkdir(join(instance, 'tmp'), { recursive: true });
  for (const [name, fallback] of Object.entries(SEEDS)) {
    const seed = join(instance, 'etc/dirsrv', name);
    await mkdir(join(seed, '..'), { recursive: true });
    await copyOrWrite(join(INSTALLED_CONFIG, name), seed, fallback);
  }
  const share = join(instance, 'share/dirsrv');
  await edit(join(share, 'inf/defaults.inf'), text =>
    movedDefaults(text, instance, account),
  );
  await edit(join(share, 'data/template-dse.ldif'), listenOnLoopback);
  return { PREFIX: instance, INSTALL_PREFIX: instance };
}

/** The paths below the root, except those of programs and libraries. */
function movedDefaults(text: string, root: string, account: Account): string {
  let moved = text.replace(
    /^(?!(?:bin|sbin|lib|plugin)_dir)(\w+ = )\//gm,
    `$1${root}/`,
  );
  for (const [key, value] of [
    ['with_selinux', 'no'],
    ['with_systemd', '0'],
    ['user', account.name],
    ['group', account.group],
    ['prefix', root],
    ['data_dir', join(root, 'share')],
  ]) {
    moved = moved.replace(
      new RegExp(`^${key} = .*$`, 'm'),
      `${key} = ${value}`,
    );
  }
  return moved;
}

/** dscreate starts the server once, and by itself would do so on every interface. */
function listenOnLoopback(template: string): string {
  return template.replace(
    /^nsslapd-port: /m,
    'nsslapd-listenhost: 127.0.0.1\nnsslapd-port: ',
  );
}

async function copyOrWrite(
  source: string,
  target: string,
  fallback: string,
): Promise<void> {
  try {
    await access(source);
  } catch {
    await writeFile(target, fallback);
    return;
  }
  await copyFile(source, target);
}

/** @throws Error when there is nothing to change: the version is not known */
async function edit(
  path: string,
  change: (text: string) => string,
): Promise<void> {
  const text = await readFile(path, 'utf8');
  const changed = change(text);
  if (changed === text) {
    throw new Error(
      `${path} is not as expected: is this version of 389-ds known?`,
    );
  }
  await writeFile(path, changed);
}
