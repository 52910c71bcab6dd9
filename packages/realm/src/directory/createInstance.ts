import { chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Account } from '../processes/Account';
import { freePorts } from '../processes/freePorts';
import type { ProcessOwner } from '../processes/ProcessOwner';
import { PROGRAM_PATH } from '../processes/programs';
import { BASE_DN, type RealmLayout } from '../RealmLayout';

export interface InstanceOptions {
  owner: ProcessOwner;
  account: Account;
  layout: RealmLayout;
  rootPassword: string;
}

/**
 * Makes an empty instance below `layout.instance` with dscreate, as an
 * ordinary user and without systemd (`dscreate ds-root`). The ports are
 * placeholders: each start sets its own.
 */
export async function createInstance(options: InstanceOptions): Promise<void> {
  const { owner, account, layout, rootPassword } = options;
  const bin = join(layout.dir, 'bin');
  const share = join(layout.instance, 'share');
  const answers = join(layout.dir, 'instance.inf');
  await mkdir(bin);
  await writeFile(answers, await answerFile(account, rootPassword), {
    mode: 0o600,
  });
  await chown(bin, account.uid, account.gid);
  await chown(answers, account.uid, account.gid);
  const environment = {
    account,
    cwd: layout.dir,
    env: { PATH: [bin, PROGRAM_PATH].join(delimiter) },
  };
  await owner.run({
    ...environment,
    program: 'dscreate',
    args: ['ds-root', layout.instance, bin],
  });
  await listenOnLoopback(join(share, 'dirsrv/data/template-dse.ldif'));
  await owner.run({
    ...environment,
    program: join(bin, 'dscreate'),
    args: ['from-file', answers],
  });
  for (const needless of [bin, answers, share]) {
    await rm(needless, { recursive: true });
  }
}

/** dscreate starts the server once, and by itself would do so on every interface. */
async function listenOnLoopback(template: string): Promise<void> {
  const text = await readFile(template, 'utf8');
  const marker = 'nsslapd-port: ';
  if (!text.includes(marker)) {
    throw new Error(`${template} sets no port: is its version known?`);
  }
  await writeFile(
    template,
    text.replace(marker, `nsslapd-listenhost: 127.0.0.1\n${marker}`),
  );
}

async function answerFile(
  account: Account,
  rootPassword: string,
): Promise<string> {
  const [port, securePort] = await freePorts(2);
  return `[general]
config_version = 2
full_machine_name = localhost
strict_host_checking = False
systemd = False
selinux = False
start = False

[slapd]
instance_name = realm
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
