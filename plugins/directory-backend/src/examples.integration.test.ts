import { startRealm, type Realm } from '@directory-gateway/realm';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { allMayExport } from './__testUtils__/gateway/directoryConfig';
import { readExamples } from './__testUtils__/openapi/readExamples';
import { startGateway, type Gateway } from './__testUtils__/gateway/startGateway';

jest.setTimeout(180_000);

const run = promisify(execFile);

/** Whose portal it is in the documents. */
const PORTAL = 'https://portal.example.org';

let realm: Realm;
let gateway: Gateway;
let folder: string;

beforeAll(async () => {
  realm = await startRealm();
  gateway = await startGateway({
    realm,
    entry: 'packages/backend/src/index.ts',
    directory: {
      access: allMayExport,
      certificates: {
        authority: 'embedded',
        profiles: [
          { name: 'userCerts', purpose: 'Signing in to web services' },
        ],
        embedded: {
          organization: realm.realm,
          keyFile: `${realm.dir}/documents-ca-key.pem`,
        },
      },
    },
  });
  folder = await mkdtemp(join(tmpdir(), 'documents-'));
});

afterAll(async () => {
  await gateway?.stop();
  await realm?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Runs a command as alice types it, in the folder that all share. */
async function type(command: string): Promise<string> {
  const { stdout } = await run(
    'bash',
    ['-c', command.replaceAll(PORTAL, gateway.baseUrl)],
    {
      cwd: folder,
      env: {
        ...process.env,
        KRB5_CONFIG: realm.krb5Config,
        KRB5CCNAME: await realm.ticket('alice'),
      },
    },
  );
  return stdout.replaceAll('\r', '').replaceAll(gateway.baseUrl, PORTAL).trim();
}

/** What a document shows, with `…` for any text. */
function expected(value: unknown): unknown {
  if (value === '…') {
    return expect.anything();
  }
  if (Array.isArray(value)) {
    return value.map(expected);
  }
  return value !== null && typeof value === 'object'
    ? Object.fromEntries(
        Object.entries(value).map(([key, of]) => [key, expected(of)]),
      )
    : value;
}

describe.each(['api.md'])('docs/%s', name => {
  const file = resolve(__dirname, '../../../docs', name);
  const examples = readExamples(readFileSync(file, 'utf8'));

  it('has examples', () => {
    expect(examples.length).toBeGreaterThan(0);
  });

  it.each(examples.map(example => [example.line, example] as const))(
    'prints what it says, line %i',
    async (_line, { command, printed }) => {
      const text = await type(command);
      const isJson = printed?.language === 'json';
      expect(isJson ? JSON.parse(text) : text).toEqual(
        isJson ? expected(JSON.parse(printed.text)) : printed?.text ?? text,
      );
    },
  );
});
