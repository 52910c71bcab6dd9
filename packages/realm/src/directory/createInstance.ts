import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Account } from '../processes/Account';
import { freePorts } from '../processes/ports';
import type { ProcessOwner } from '../processes/ProcessOwner';
import { BASE_DN, type RealmLayout } from '../RealmLayout';
import { editDse, substitute } from './editDse';
import { prepareInstanceRoot } from './prepareInstanceRoot';
import { withComplaints } from './withComplaints';

export interface InstanceOptions {
  owner: ProcessOwner;
  account: Account;
  layout: RealmLayout;
  rootPassword: string;
}

/**
 * Makes an empty instance below `layout.instance` with dscreate, as an
 * ordinary user and without systemd. Its ports serve while it is being made:
 * each start sets others.
 */
export async function createInstance(options: InstanceOptions): Promise<void> {
  const { owner, account, layout } = options;
  const answers = join(layout.dir, 'instance.inf');
  await writeFile(answers, await answerFile(options), { mode: 0o600 });
  const env = await prepareInstanceRoot(layout, account);
  if (account.drop) {
    const args = ['-R', `${account.uid}:${account.gid}`, layout.dir];
    await owner.run({ program: 'chown', args });
  }
  await withComplaints('Making a directory server', layout, () =>
    owner.run({
      program: 'dscreate',
      args: ['from-file', answers],
      account,
      cwd: layout.dir,
      env,
    }),
  );
  await rm(answers);
  await rm(join(layout.instance, 'share'), { recursive: true });
  await giveCommonName(layout);
}

async function answerFile(options: InstanceOptions): Promise<string> {
  const { account, layout, rootPassword } = options;
  const [port, securePort] = await freePorts(2);
  return `[general]
config_version = 2
full_machine_name = localhost
strict_host_checking = False
systemd = False
selinux = False
start = False

[slapd]
instance_name = ${basename(layout.dir)}
port = ${port}
secure_port = ${securePort}
self_sign_cert = False
user = ${account.name}
group = ${account.group}
root_password = ${rootPassword}

[backend-userroot]
suffix = ${BASE_DN}
create_suffix_entry = False
`;
}

/**
 * While it was made, the instance needed a name of its own (see `ownConfig`);
 * from here on its folders are called the same in every realm.
 */
async function giveCommonName(layout: RealmLayout): Promise<void> {
  const { instance } = layout;
  const own = basename(layout.ownConfig);
  for (const path of await readdir(instance, { recursive: true })) {
    if (basename(path) === own) {
      const folder = join(instance, path);
      await rename(folder, join(dirname(folder), 'slapd-realm'));
    }
  }
  await editDse(layout, entries =>
    entries.map(entry => substitute(entry, own, 'slapd-realm')),
  );
}
