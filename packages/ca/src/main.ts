/**
 * The command `directory-ca`.
 *
 * @packageDocumentation
 */

import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { basename, join, resolve } from 'node:path';
import { InputError, toError } from '@backstage/errors';
import {
  REVOCATION_REASONS,
  type RevocationReason,
  type SigningKey,
} from '@directory-gateway/x509';
import {
  type RootLocation,
  type WrittenCertificate,
  certifyIntermediate,
  createRoot,
  createRootCrl,
  crossSign,
  preparePrivateFolder,
  requestIntermediate,
  requireAbsent,
} from './ceremony';
import { KEY_TYPES, type KeyType, generateKeyFile } from './keys/KeyFile';
import { generatePkcs11Key } from './keys/Pkcs11Key';
import { verifyLog } from './log/verifyLog';
import { serve } from './serve';

interface Option {
  /** Placeholder of the value in the help: `FOLDER`. */
  readonly value: string;
  readonly description: string;
  readonly default?: string;
  readonly isRequired?: boolean;
  readonly isMultiple?: boolean;
}

/** Values of the options of a command, with defaults. */
class Values {
  readonly #values: ReadonlyMap<string, readonly string[]>;
  readonly positional: string | undefined;

  constructor(options: {
    readonly values: ReadonlyMap<string, readonly string[]>;
    readonly positional: string | undefined;
  }) {
    this.#values = options.values;
    this.positional = options.positional;
  }

  all(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  find(name: string): string | undefined {
    return this.all(name)[0];
  }

  has(flag: string): boolean {
    return this.#values.has(flag);
  }

  get(name: string): string {
    const value = this.find(name);
    if (value === undefined || value === '') {
      throw new InputError(`--${name} is missing`);
    }
    return value;
  }

  path(name: string): string {
    return resolve(this.get(name));
  }

  findPath(name: string): string | undefined {
    const value = this.find(name);
    return value === undefined ? undefined : resolve(value);
  }

  /** A whole number. */
  count(name: string, options: { readonly min: number }): number {
    const number = Number(this.get(name));
    if (!Number.isSafeInteger(number) || number < options.min) {
      throw new InputError(
        `--${name} must be a whole number, at least ${options.min}`,
      );
    }
    return number;
  }

  choice<T extends string>(name: string, choices: readonly T[]): T {
    const value = this.get(name);
    const found = choices.find(choice => choice === value);
    if (found === undefined) {
      throw new InputError(`--${name} must be one of ${choices.join(', ')}`);
    }
    return found;
  }

  /** Base of public URLs, without a trailing `/`. */
  findUrl(name: string): string | undefined {
    const text = this.find(name);
    if (text === undefined) {
      return undefined;
    }
    if (!URL.canParse(text) || !/^https?:\/\//.test(text)) {
      throw new InputError(`--${name} must be an http:// or https:// URL`);
    }
    return text.replace(/\/+$/, '');
  }

  /** A file name without a folder. */
  fileName(name: string): string {
    const value = this.get(name);
    if (!/^[\w-][\w.-]*$/.test(value)) {
      throw new InputError(
        `--${name} must consist of letters, digits, ".", "-" and "_"`,
      );
    }
    return value;
  }
}

/** A command of `directory-ca`. */
interface Command {
  readonly summary: string;
  /** Name of the only argument that is not an option. */
  readonly argument?: string;
  readonly options: Readonly<Record<string, Option>>;
  /** Descriptions of options without a value. */
  readonly flags?: Readonly<Record<string, string>>;
  /** @returns the exit code; `undefined`: 0 */
  run(values: Values): Promise<number | void>;
}

const FOLDER: Option = {
  value: 'FOLDER',
  description: 'Folder with root.key and root.pem',
  isRequired: true,
};
const ROOT_PASSPHRASE: Option = {
  value: 'FILE',
  description:
    "File with the passphrase of the root's key; default: the key is not encrypted",
};
const ORGANIZATION: Option = {
  value: 'NAME',
  description: 'Organization (O) of the CA, for example the realm',
  isRequired: true,
};
const COMMON_NAME: Option = {
  value: 'NAME',
  description:
    'Common name (CN) of the CA; default: a unique name that contains the start of its id',
};
const INTERMEDIATE_YEARS: Option = {
  value: 'NUMBER',
  description: 'Validity in years, limited by that of the root',
  default: '3',
};
const PUBLIC_URL: Option = {
  value: 'URL',
  description:
    "URL of the gateway's API, for example https://portal.example.org/api/directory: base URL of the root's CRL and certificate; default: the new certificate does not contain these URLs",
};
const FILE_NAME: Option = {
  value: 'NAME',
  description: 'Name of the new files without .key, .csr or .pem',
  default: 'intermediate',
};
const KEY_OPTIONS: Readonly<Record<string, Option>> = {
  'key-type': {
    value: 'TYPE',
    description: `Type of the new key: ${KEY_TYPES.join(', ')}`,
    default: 'P-256',
  },
  'passphrase-file': {
    value: 'FILE',
    description:
      'File with a passphrase for the new key; default: the key is not encrypted',
  },
  'pkcs11-module': {
    value: 'FILE',
    description:
      'PKCS#11 module (shared library), to generate the new key in a token instead of a file',
  },
  'pkcs11-token': { value: 'LABEL', description: 'Label of the token' },
  'pkcs11-key': { value: 'LABEL', description: 'Label of the new key' },
  'pkcs11-pin-file': {
    value: 'FILE',
    description: 'File with the PIN of the token',
  },
};

/** Reasons for the revocation of a CA certificate (RFC 5280 §5.3.1). */
const REASONS = Object.keys(REVOCATION_REASONS).filter(
  reason => !['certificateHold', 'removeFromCRL'].includes(reason),
) as RevocationReason[];

const COMMANDS: Readonly<Record<string, Command>> = {
  'create-root': {
    summary: 'Create a root: its key and its self-signed certificate',
    options: {
      folder: { ...FOLDER, description: 'Folder for the new files' },
      organization: ORGANIZATION,
      'common-name': COMMON_NAME,
      years: {
        value: 'NUMBER',
        description: 'Validity in years',
        default: '10',
      },
      'path-length': {
        value: 'NUMBER',
        description: 'Maximum number of CAs in a chain below the root',
        default: '1',
      },
      'key-type': {
        value: 'TYPE',
        description: `Type of the new key: ${KEY_TYPES.join(', ')}`,
        default: 'P-384',
      },
      'root-passphrase-file': {
        value: 'FILE',
        description:
          'File with a passphrase for the new key; default: the key is not encrypted',
      },
    },
    async run(values) {
      const root = rootOf(values);
      const written = await createRoot({
        ...root,
        name: nameOf(values),
        keyType: values.choice<KeyType>('key-type', KEY_TYPES),
        years: values.count('years', { min: 1 }),
        pathLength: values.count('path-length', { min: 1 }),
      });
      reportCertificate('root', written);
      print(
        `Key: ${join(root.folder, 'root.key')}`,
        'After you have created the intermediate, move the folder to an offline storage medium, and keep a second',
        'copy at another location. certify, create-intermediate, cross-sign and root-crl need the key.',
      );
    },
  },

  'create-intermediate': {
    summary:
      'Create an intermediate: its key and its certificate, signed by the root',
    options: {
      folder: FOLDER,
      'root-passphrase-file': ROOT_PASSPHRASE,
      organization: ORGANIZATION,
      'common-name': COMMON_NAME,
      years: INTERMEDIATE_YEARS,
      'public-url': PUBLIC_URL,
      'file-name': FILE_NAME,
      ...KEY_OPTIONS,
    },
    async run(values) {
      const root = rootOf(values);
      const base = join(root.folder, values.fileName('file-name'));
      const written = await certifyIntermediate({
        root,
        path: `${base}.pem`,
        subject: {
          name: nameOf(values),
          createKey: () => createKey(values, base),
        },
        years: values.count('years', { min: 1 }),
        publicUrl: values.findUrl('public-url'),
      });
      reportCertificate('intermediate', written);
      print(
        `Key: ${placeOfKey(values, base)}`,
        'Set both in the configuration of the signer: chainFile, and keyFile or pkcs11.',
      );
    },
  },

  request: {
    summary:
      'Create the key of an intermediate and a CSR for a root on another machine',
    options: {
      folder: { ...FOLDER, description: 'Folder for the new files' },
      organization: ORGANIZATION,
      'common-name': COMMON_NAME,
      'file-name': FILE_NAME,
      ...KEY_OPTIONS,
    },
    async run(values) {
      const folder = values.path('folder');
      await preparePrivateFolder(folder);
      const base = join(folder, values.fileName('file-name'));
      const [name, path] = [nameOf(values), `${base}.csr`];
      await requireAbsent(path);
      const key = await createKey(values, base);
      await requestIntermediate({ name, key, path });
      print(
        `CSR: ${path}`,
        `Key: ${placeOfKey(values, base)}`,
        'Sign the CSR with "directory-ca certify" on the machine with the root.',
      );
    },
  },

  certify: {
    summary: 'Sign the CSR of an intermediate with the root',
    options: {
      folder: FOLDER,
      'root-passphrase-file': ROOT_PASSPHRASE,
      csr: {
        value: 'FILE',
        description: 'CSR that "directory-ca request" created',
        isRequired: true,
      },
      years: INTERMEDIATE_YEARS,
      'public-url': PUBLIC_URL,
      'file-name': {
        value: 'NAME',
        description:
          'Name of the new file without .pem; default: name of the CSR file',
      },
    },
    async run(values) {
      const root = rootOf(values);
      const csrFile = values.path('csr');
      const fileName =
        values.find('file-name') === undefined
          ? basename(csrFile).replace(/\.csr$/, '')
          : values.fileName('file-name');
      const written = await certifyIntermediate({
        root,
        path: join(root.folder, `${fileName}.pem`),
        subject: { csrFile },
        years: values.count('years', { min: 1 }),
        publicUrl: values.findUrl('public-url'),
      });
      reportCertificate('intermediate', written);
    },
  },

  'cross-sign': {
    summary:
      'Sign a certificate for the name and key of another CA with this root',
    options: {
      folder: FOLDER,
      'root-passphrase-file': ROOT_PASSPHRASE,
      certificate: {
        value: 'FILE',
        description:
          'Certificate of the other CA, for example intermediate.pem',
        isRequired: true,
      },
      'public-url': PUBLIC_URL,
      'file-name': { ...FILE_NAME, default: 'cross-signed' },
    },
    async run(values) {
      const root = rootOf(values);
      const written = await crossSign({
        root,
        certificateFile: values.path('certificate'),
        path: join(root.folder, `${values.fileName('file-name')}.pem`),
        publicUrl: values.findUrl('public-url'),
      });
      reportCertificate('other CA', written);
    },
  },

  'root-crl': {
    summary: "Sign the root's next CRL, optionally with revoked intermediates",
    options: {
      folder: FOLDER,
      'root-passphrase-file': ROOT_PASSPHRASE,
      days: {
        value: 'NUMBER',
        description: 'Validity in days',
        default: '190',
      },
      revoke: {
        value: 'FILE',
        description: 'Certificate to revoke (repeatable)',
        isMultiple: true,
      },
      reason: {
        value: 'REASON',
        description:
          'Reason for the revocations, for example cACompromise or superseded',
        default: 'unspecified',
      },
    },
    async run(values) {
      const reason = values.choice<RevocationReason>('reason', REASONS);
      const path = await createRootCrl({
        root: rootOf(values),
        days: values.count('days', { min: 1 }),
        revoke: values
          .all('revoke')
          .map(file => ({ certificateFile: resolve(file), reason })),
      });
      print(`CRL of the root: ${path}`);
    },
  },

  serve: {
    summary: 'Sign for the clients of a Unix socket until SIGTERM',
    options: {
      config: {
        value: 'FILE',
        description:
          'Configuration file, for example /etc/directory-ca/config.yaml',
        isRequired: true,
      },
    },
    flags: { 'allow-root': 'Allow the process to run as root, for containers' },
    async run(values) {
      await serve({
        configFile: values.path('config'),
        allowRoot: values.has('allow-root'),
      });
    },
  },

  'verify-log': {
    summary: 'Verify an issuance log; exit with 1 if the log was changed',
    argument: 'FOLDER',
    options: {},
    async run({ positional }) {
      if (positional === undefined) {
        throw new InputError('FOLDER is missing');
      }
      const folder = resolve(positional);
      if (!existsSync(folder)) {
        throw new InputError(`${folder} does not exist`);
      }
      const { fault, incomplete, issuers, ...counts } = await verifyLog(folder);
      if (counts.files === 0) {
        throw new InputError(`${folder} contains no issuance log`);
      }
      for (const file of incomplete) {
        print(`${file}: the last line is incomplete and was ignored`);
      }
      if (fault) {
        print(`${fault.file}, line ${fault.line}: ${fault.message}`);
        return 1;
      }
      print(
        `The log is unchanged (files: ${counts.files}, lines: ${counts.lines}, certificates: ${counts.certificates})`,
        ...issuers.map(id => `CA ${id}`),
      );
      return 0;
    },
  },
};

function rootOf(values: Values): RootLocation {
  return {
    folder: values.path('folder'),
    passphraseFile: values.findPath('root-passphrase-file'),
  };
}

function nameOf(values: Values) {
  return {
    organization: values.get('organization'),
    commonName: values.find('common-name'),
  };
}

/** Creates the key of an intermediate in a token or in a file. */
async function createKey(values: Values, base: string): Promise<SigningKey> {
  const type = values.choice<KeyType>('key-type', KEY_TYPES);
  const passphraseFile = values.findPath('passphrase-file');
  const module = values.findPath('pkcs11-module');
  if (module === undefined) {
    return await generateKeyFile({ path: `${base}.key`, type, passphraseFile });
  }
  const place = {
    module,
    token: values.get('pkcs11-token'),
    key: values.get('pkcs11-key'),
    pinFile: values.path('pkcs11-pin-file'),
  };
  return await generatePkcs11Key(place, { type });
}

function placeOfKey(values: Values, base: string): string {
  return values.find('pkcs11-module') === undefined
    ? `${base}.key`
    : `${values.get('pkcs11-key')} in token ${values.get('pkcs11-token')}`;
}

function reportCertificate(
  kind: string,
  { path, certificate }: WrittenCertificate,
): void {
  const { subject, notAfter } = certificate;
  const end = new Date(notAfter).toISOString().slice(0, 10);
  print(`Certificate of the ${kind} ${subject}, valid until ${end}: ${path}`);
}

function print(...lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}

function helpOf(name: string, command: Command): string {
  const { summary, argument = '', options, flags = {} } = command;
  const lines = Object.entries(options).map(([option, description]) => {
    const flag = `--${option} ${description.value}`;
    const note = description.isRequired
      ? ' (required)'
      : description.default && ` (default: ${description.default})`;
    return `  ${flag.padEnd(30)} ${description.description}${note ?? ''}`;
  });
  for (const [flag, description] of Object.entries(flags)) {
    lines.push(`  ${`--${flag}`.padEnd(30)} ${description}`);
  }
  return [
    `Usage: directory-ca ${name} ${lines.length > 0 ? '[options]' : argument}`,
    '',
    summary,
    ...(lines.length > 0 ? ['', 'Options:', ...lines] : []),
  ].join('\n');
}

function help(): string {
  const lines = Object.entries(COMMANDS).map(
    ([name, { summary }]) => `  ${name.padEnd(22)} ${summary}`,
  );
  return [
    'Usage: directory-ca COMMAND [options]',
    '',
    'Certificate authority of the directory gateway.',
    '',
    'Commands:',
    ...lines,
    '',
    'Run "directory-ca COMMAND --help" for the options of a command.',
  ].join('\n');
}

/** @throws InputError that names an invalid or missing option. */
function parse(command: Command, args: readonly string[]): Values {
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({
      args: [...args],
      allowPositionals: command.argument !== undefined,
      options: Object.fromEntries([
        ...Object.keys(command.options).map(name => [
          name,
          { type: 'string' as const, multiple: true as const },
        ]),
        ...Object.keys(command.flags ?? {}).map(name => [
          name,
          { type: 'boolean' as const },
        ]),
      ]),
    });
  } catch (error) {
    throw new InputError(toError(error).message);
  }
  const values = new Map<string, readonly string[]>();
  for (const [name, option] of Object.entries(command.options)) {
    const given = (parsed.values[name] ?? []) as string[];
    if (given.length > 1 && !option.isMultiple) {
      throw new InputError(`--${name} is given more than once`);
    }
    if (given.length === 0 && option.isRequired) {
      throw new InputError(`--${name} is missing`);
    }
    const fallback = option.default === undefined ? [] : [option.default];
    values.set(name, given.length > 0 ? given : fallback);
  }
  for (const name of Object.keys(command.flags ?? {})) {
    if (parsed.values[name]) {
      values.set(name, []);
    }
  }
  if (parsed.positionals.length > 1) {
    throw new InputError(`Only one ${command.argument} is allowed`);
  }
  return new Values({ values, positional: parsed.positionals[0] });
}

/**
 * Runs a command line of `directory-ca`.
 *
 * @param args - the command and its options
 * @returns the exit code: 1 when the command failed, 2 when its input is invalid
 *
 * @public
 */
export async function main(args: readonly string[]): Promise<number> {
  const [name = '--help', ...rest] = args;
  if (['--help', '-h', 'help'].includes(name)) {
    print(help());
    return args.length === 0 ? 2 : 0;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) {
    process.stderr.write(`directory-ca: unknown command ${name}\n`);
    return 2;
  }
  if (rest.includes('--help') || rest.includes('-h')) {
    print(helpOf(name, command));
    return 0;
  }
  try {
    return (await command.run(parse(command, rest))) ?? 0;
  } catch (error) {
    process.stderr.write(`directory-ca ${name}: ${toError(error).message}\n`);
    return error instanceof InputError ? 2 : 1;
  }
}
