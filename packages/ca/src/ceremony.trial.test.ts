import { spawnSync } from 'node:child_process';
import {
  chmod,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readPemBlocks, writePem } from '@directory-gateway/x509';
import { createCsr, PROFILE, PUBLIC_URL, TestCa } from './__testUtils__/TestCa';
import { CaIssuer, publicKeyOf } from './CaIssuer';
import { KeyFile } from './keys/KeyFile';
import { main } from './main';

let folder: string;
let printed: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ca-test-'));
  printed = '';
  const print = (text: string | Uint8Array) => {
    printed += text;
    return true;
  };
  jest.spyOn(process.stdout, 'write').mockImplementation(print);
  jest.spyOn(process.stderr, 'write').mockImplementation(print);
});

afterEach(async () => {
  jest.restoreAllMocks();
  await rm(folder, { recursive: true });
});

const file = (...names: string[]) => join(folder, ...names);

/** Runs a command that must succeed. */
async function ca(...args: string[]): Promise<void> {
  printed = '';
  const code = await main(args);
  if (code !== 0) {
    throw new Error(`directory-ca ${args.join(' ')}: ${code}: ${printed}`);
  }
}

const SOFTHSM = '/usr/lib/softhsm/libsofthsm2.so';
const NAMED = ['--organization', 'EXAMPLE.TEST'];

async function createRoot(name: string, ...options: string[]): Promise<void> {
  await ca('create-root', '--folder', file(name), ...NAMED, ...options);
}

async function createIntermediate(
  name: string,
  ...options: string[]
): Promise<void> {
  const location = ['--folder', file(name), '--public-url', `${PUBLIC_URL}/`];
  await ca('create-intermediate', ...location, ...NAMED, ...options);
}

/**
 * Signs `leaf.pem` and `crl.pem`, a certificate and a CRL of an intermediate.
 */
async function signLeaf(
  name: string,
  passphraseFile?: string,
): Promise<TestCa> {
  const pem = await readFile(file(name, 'intermediate.pem'), 'utf8');
  const chain = readPemBlocks(pem, { label: 'CERTIFICATE' });
  const key = new KeyFile({
    path: file(name, 'intermediate.key'),
    passphraseFile,
    spki: publicKeyOf(chain[0]),
  });
  const test = await TestCa.create(CaIssuer.create({ chain, key }));
  try {
    const signer = await test.open();
    // The ceremony's certificates became valid five minutes ago.
    const request = await test.request({
      notBefore: new Date(test.now - 60_000),
    });
    const leaf = await signer.signCertificate(request);
    const crl = await signer.signRevocationList(test.crl(1));
    await writeFile(file(name, 'leaf.pem'), writePem('CERTIFICATE', leaf));
    await writeFile(file(name, 'crl.pem'), writePem('X509 CRL', crl));
  } finally {
    await test.remove();
  }
  return test;
}

function openssl(...args: string[]): string {
  const { stdout, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
  return stdout + stderr;
}

/** Verifies with `-x509_strict`; a file may be in several lists. */
function verify(options: {
  readonly trusted: string;
  readonly untrusted?: readonly string[];
  readonly crls?: readonly string[];
  readonly certificate: string;
}): string {
  const { trusted, untrusted = [], crls = [], certificate } = options;
  return openssl(
    ...['verify', '-x509_strict', '-CAfile', trusted],
    ...untrusted.flatMap(path => ['-untrusted', path]),
    ...crls.flatMap(path => ['-CRLfile', path]),
    ...(crls.length > 0 ? ['-crl_check_all'] : []),
    ...['-purpose', 'sslclient', certificate],
  );
}

const OK = /: OK\n$/;

describe('OpenSSL', () => {
  it('verifies certificates with the CRLs of root and intermediate', async () => {
    await createRoot('a');
    await createIntermediate('a');
    await ca('root-crl', '--folder', file('a'));
    await signLeaf('a');
    const leaf = {
      trusted: file('a', 'root.pem'),
      untrusted: [file('a', 'intermediate.pem')],
      certificate: file('a', 'leaf.pem'),
    };
    const crl = file('a', 'crl.pem');
    const crls = [crl, file('a', 'root-crl-1.pem')];
    expect(verify({ ...leaf, crls })).toMatch(OK);
    expect(verify({ ...leaf, crls: [crl] })).toContain('unable to get');

    await ca(
      ...['root-crl', '--folder', file('a'), '--reason', 'cACompromise'],
      ...['--revoke', file('a', 'intermediate.pem')],
    );
    await ca('root-crl', '--folder', file('a'));
    for (const name of ['root-crl-2.pem', 'root-crl-3.pem']) {
      expect(verify({ ...leaf, crls: [crl, file('a', name)] })).toContain(
        'certificate revoked',
      );
      expect(
        openssl('crl', '-in', file('a', name), '-noout', '-text'),
      ).toContain('CA Compromise');
    }
  });

  it.each(['P-256', 'P-384', 'P-521', 'rsa-3072'])(
    'verifies a CA with keys of %s and passphrases',
    async type => {
      await writeFile(file('passphrase'), 'correct horse\n', { mode: 0o600 });
      const passphrase = ['passphrase-file', file('passphrase')];
      const root = [`--root-${passphrase[0]}`, passphrase[1]];
      await createRoot('a', '--key-type', type, ...root);
      const own = [`--${passphrase[0]}`, passphrase[1]];
      await createIntermediate('a', '--key-type', type, ...root, ...own);
      for (const name of ['root.key', 'intermediate.key']) {
        expect(await readFile(file('a', name), 'utf8')).toContain('ENCRYPTED');
      }
      await signLeaf('a', file('passphrase'));
      expect(
        verify({
          trusted: file('a', 'root.pem'),
          untrusted: [file('a', 'intermediate.pem')],
          certificate: file('a', 'leaf.pem'),
        }),
      ).toMatch(OK);
      await expect(signLeaf('a')).rejects.toThrow('the passphrase is wrong');
    },
  );

  it('verifies an intermediate whose root was on another machine', async () => {
    await createRoot('offline');
    await ca('request', '--folder', file('online'), ...NAMED);
    const csr = file('online', 'intermediate.csr');
    expect(openssl('req', '-in', csr, '-noout', '-verify')).toContain('OK');
    await ca('certify', '--folder', file('offline'), '--csr', csr);
    expect(await readdir(file('offline'))).not.toContain('intermediate.key');
    await writeFile(
      file('online', 'intermediate.pem'),
      await readFile(file('offline', 'intermediate.pem')),
    );
    await signLeaf('online');
    const { trusted, ...leaf } = {
      trusted: file('offline', 'root.pem'),
      untrusted: [file('online', 'intermediate.pem')],
      certificate: file('online', 'leaf.pem'),
    };
    expect(verify({ trusted, ...leaf })).toMatch(OK);
    const text = openssl('x509', '-in', leaf.untrusted[0], '-noout', '-text');
    expect(text).not.toContain('CRL Distribution Points');
    expect(text).toContain('pathlen:0');
  });

  it('verifies an intermediate whose key is in a PKCS#11 token', async () => {
    await createRoot('a');
    await writeFile(file('pin'), '1234\n', { mode: 0o600 });
    await mkdir(file('tokens'));
    const config = `directories.tokendir = ${file('tokens')}\n`;
    await writeFile(file('softhsm2.conf'), config);
    // The module reads the environment of its process.
    const env = { ...process.env, SOFTHSM2_CONF: file('softhsm2.conf') };
    const inToken = (command: string, args: readonly string[]) => {
      const { status, stdout, stderr } = spawnSync(command, args, {
        encoding: 'utf8',
        env,
      });
      if (status !== 0) {
        throw new Error(stderr);
      }
      return stdout;
    };
    inToken('softhsm2-util', [
      ...['--init-token', '--free', '--label', 'ca'],
      ...['--so-pin', '1234', '--pin', '1234'],
    ]);
    const output = inToken(join(__dirname, '../bin/directory-ca'), [
      ...['create-intermediate', '--folder', file('a'), ...NAMED],
      ...['--pkcs11-module', SOFTHSM, '--pkcs11-token', 'ca'],
      ...['--pkcs11-key', 'issuing', '--pkcs11-pin-file', file('pin')],
    ]);
    expect(output).toContain('Key: issuing in token ca');
    expect(await readdir(file('a'))).not.toContain('intermediate.key');
    expect(
      openssl(
        ...['verify', '-x509_strict', '-CAfile', file('a', 'root.pem')],
        file('a', 'intermediate.pem'),
      ),
    ).toMatch(OK);
  });

  it('verifies an intermediate of a new root for clients of the old root', async () => {
    await createRoot('old');
    await createIntermediate('old');
    await createRoot('new');
    await createIntermediate('new');
    await ca(
      ...['cross-sign', '--folder', file('old'), '--public-url', PUBLIC_URL],
      ...['--certificate', file('new', 'intermediate.pem')],
    );
    await signLeaf('old');
    await signLeaf('new');
    const chains = [
      ['old', 'old', file('old', 'intermediate.pem')],
      ['new', 'new', file('new', 'intermediate.pem')],
      ['old', 'new', file('old', 'cross-signed.pem')],
    ];
    for (const [root, leaf, intermediate] of chains) {
      const trusted = file(root, 'root.pem');
      const certificate = file(leaf, 'leaf.pem');
      expect(
        verify({ trusted, untrusted: [intermediate], certificate }),
      ).toMatch(OK);
    }
    expect(
      verify({
        trusted: file('old', 'root.pem'),
        untrusted: [file('new', 'intermediate.pem')],
        certificate: file('new', 'leaf.pem'),
      }),
    ).not.toMatch(OK);
  });

  it('verifies a new root for clients of an old root that permits it', async () => {
    await createRoot('old', '--path-length', '2');
    await createRoot('new');
    await createIntermediate('new');
    await signLeaf('new');
    const certificate = ['--certificate', file('new', 'root.pem')];
    await ca('cross-sign', '--folder', file('old'), ...certificate);
    const chain = await readFile(file('new', 'intermediate.pem'), 'utf8');
    const [intermediate] = readPemBlocks(chain, { label: 'CERTIFICATE' });
    // Servers send the cross-certificate instead of the new root.
    await writeFile(
      file('intermediate.pem'),
      writePem('CERTIFICATE', intermediate),
    );
    expect(
      verify({
        trusted: file('old', 'root.pem'),
        untrusted: [file('intermediate.pem'), file('old', 'cross-signed.pem')],
        certificate: file('new', 'leaf.pem'),
      }),
    ).toMatch(OK);
    await createRoot('other');
    expect(
      await main(['cross-sign', '--folder', file('other'), ...certificate]),
    ).toBe(2);
    expect(printed).toContain('cross-sign the intermediate instead');
  });
});

describe('directory-ca', () => {
  it('creates files that only their user can read', async () => {
    await createRoot('a');
    await createIntermediate('a');
    expect((await stat(file('a'))).mode & 0o777).toBe(0o700);
    for (const name of await readdir(file('a'))) {
      expect((await stat(file('a', name))).mode & 0o777).toBe(0o600);
    }
    await chmod(file('a'), 0o755);
    await expect(createRoot('a')).rejects.toThrow('run chmod 700');
  });

  it('never overwrites a file', async () => {
    await createRoot('a');
    await createIntermediate('a');
    await ca('request', '--folder', file('b'), ...NAMED);
    const contents = async () =>
      await Promise.all(
        [file('a'), file('b')].map(async path =>
          (await readdir(path)).map(
            async name => await readFile(join(path, name)),
          ),
        ),
      );
    const before = await contents();
    await expect(createRoot('a')).rejects.toThrow('root.pem exists');
    await expect(createIntermediate('a')).rejects.toThrow('pem exists');
    await expect(
      ca('request', '--folder', file('b'), ...NAMED),
    ).rejects.toThrow('csr exists');
    await rm(file('a', 'intermediate.pem'));
    await expect(createIntermediate('a')).rejects.toThrow('key exists');
    await createIntermediate('a', '--file-name', 'second');
    expect(await contents()).not.toEqual(before);
  });

  it.each<[string, string[]]>([
    ['--folder is missing', ['create-root', ...NAMED]],
    ['--organization is missing', ['create-root', '--folder', 'x']],
    [
      '--years must',
      ['create-root', '--folder', 'x', ...NAMED, '--years', '0'],
    ],
    [
      '--key-type must',
      ['request', '--folder', 'x', ...NAMED, '--key-type', 'dsa'],
    ],
    [
      '--file-name must',
      ['request', '--folder', 'x', ...NAMED, '--file-name', '../x'],
    ],
    ["Unknown option '--key'", ['root-crl', '--key', 'x']],
    [
      '--folder is given more than once',
      ['root-crl', '--folder', 'x', '--folder', 'y'],
    ],
    [
      '--reason must',
      ['root-crl', '--folder', 'x', '--reason', 'certificateHold'],
    ],
    [
      '--public-url must',
      [
        'cross-sign',
        '--folder',
        'x',
        '--certificate',
        'y',
        '--public-url',
        'ftp://a',
      ],
    ],
    ['FOLDER is missing', ['verify-log']],
    ['unknown command toString', ['toString']],
  ])('refuses an invalid command line: %j', async (message, args) => {
    const inFolder = args.map(arg => (arg === 'x' ? file('x') : arg));
    expect(await main(inFolder)).toBe(2);
    expect(printed).toContain(message);
    expect(printed.split('\n')).toHaveLength(2);
  });

  it('refuses a folder of another user', async () => {
    jest.spyOn(process, 'geteuid').mockReturnValue(12345);
    await expect(createRoot('a')).rejects.toThrow(
      `${file('a')} belongs to another user`,
    );
  });

  it('reports which file cannot be read', async () => {
    await expect(createIntermediate('a')).rejects.toThrow(
      file('a', 'root.pem'),
    );
    await createRoot('a');
    await chmod(file('a', 'root.key'), 0o644);
    await expect(createIntermediate('a')).rejects.toThrow(
      `${file('a', 'root.key')} is accessible to other users`,
    );
    await chmod(file('a', 'root.key'), 0o600);
    await writeFile(file('x.csr'), 'x');
    await expect(
      ca('certify', '--folder', file('a'), '--csr', file('x.csr')),
    ).rejects.toThrow(file('x.csr'));
    await createRoot('b');
    await expect(
      ca('root-crl', '--folder', file('a'), '--revoke', file('b', 'root.pem')),
    ).rejects.toThrow('is not signed by the root');
  });

  it('describes its commands and their options', async () => {
    await ca('--help');
    for (const [, command] of printed.matchAll(/^ {2}([a-z-]+) /gm)) {
      await ca(command, '--help');
      expect(printed).toContain(`Usage: directory-ca ${command}`);
    }
    expect(await main([])).toBe(2);
  });

  it('exits with 1 when the log was changed', async () => {
    const test = await TestCa.create();
    try {
      const signer = await test.open();
      await signer.signCertificate(
        await test.request({ csr: await createCsr() }),
      );
      await signer.close();
      await ca('verify-log', test.folder);
      expect(printed).toContain(
        `The log is unchanged (files: 1, lines: 2, certificates: 1)\nCA ${test.issuer.id}`,
      );
      const [name] = await readdir(test.folder);
      const path = join(test.folder, name);
      const text = await readFile(path, 'utf8');
      await writeFile(path, text.replace(PROFILE.name, 'xserCerts'));
      expect(await main(['verify-log', test.folder])).toBe(1);
      expect(printed).toContain(`${name}, line 2: the line was changed`);
    } finally {
      await test.remove();
    }
  });

  it.each([
    ['does not exist', 'none'],
    ['contains no issuance log', ''],
  ])('exits with 2 when the folder %s', async (message, name) => {
    expect(await main(['verify-log', file(name)])).toBe(2);
    expect(printed).toContain(`${file(name)} ${message}`);
  });
});
