import { Command, InvalidArgumentError } from 'commander';
import type { RealmOptions } from './RealmOptions';
import { runCommand } from './runCommand';
import { serve } from './serve';

interface Flags {
  users?: number;
  ldif?: string;
  schema?: 'fas' | 'freeipa';
  envFile?: string;
}

const program = new Command('realm').description(
  'A Kerberos realm and a directory full of people, on loopback',
);

withRealmOptions(program.command('serve'))
  .description(
    'start a realm, print an environment to source, run until a signal',
  )
  .option(
    '--env-file <path>',
    'also write the environment to this file, once ready',
  )
  .action(({ envFile, ...flags }: Flags) =>
    finish(serve({ ...realmOptions(flags), envFile })),
  );

withRealmOptions(program.command('run'))
  .description('run a command in the environment of a realm that lives as long')
  .usage('[options] -- <command...>')
  .argument('<command...>')
  .action((command: string[], flags: Flags) =>
    finish(runCommand(command, realmOptions(flags))),
  );

program.parse();

function withRealmOptions(command: Command): Command {
  return command
    .option('--users <number>', 'how many people to generate', wholeNumber)
    .option('--ldif <path>', "fill it with this file's entries instead")
    .option(
      '--schema <name>',
      'fas or freeipa (no Fedora Account System)',
      schemaName,
    );
}

function realmOptions({ users, ldif, schema }: Flags): RealmOptions {
  // People and measurements come here: the directory is as fast as FreeIPA's.
  return { users, ldif, schema, accessLog: 'buffered' };
}

function wholeNumber(text: string): number {
  if (!/^\d{1,7}$/.test(text)) {
    throw new InvalidArgumentError('Not a whole number.');
  }
  return Number(text);
}

function schemaName(text: string): 'fas' | 'freeipa' {
  if (text !== 'fas' && text !== 'freeipa') {
    throw new InvalidArgumentError('Known are fas and freeipa.');
  }
  return text;
}

/** Exits with the status; a failure is one line. */
async function finish(work: Promise<number>): Promise<void> {
  try {
    process.exitCode = await work;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`realm: ${reason}\n`);
    process.exitCode = 1;
  }
}
