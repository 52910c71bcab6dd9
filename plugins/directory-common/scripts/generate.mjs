/**
 * Generates `src/generated` from `src/openapi.yaml`. With `--check` it exits
 * with 1 when the committed files are outdated.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString, COMMENT_HEADER } from 'openapi-typescript';
import prettier from 'prettier';
import ts from 'typescript';
import { parse } from 'yaml';

const root = new URL('../', import.meta.url);
const source = new URL('src/openapi.yaml', root);

/** Serial numbers have up to 160 bits. */
function bigintTypes(schema) {
  return schema.format === 'bigint'
    ? ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword)
    : undefined;
}

async function generateTypes() {
  const ast = await openapiTS(source, { transform: bigintTypes });
  return `${COMMENT_HEADER}${astToString(ast)}`;
}

async function generateDocument() {
  const document = parse(await readFile(source, 'utf8'));
  return JSON.stringify(document);
}

/** Formats as the repository does, so that formatting a file changes nothing. */
async function format(name, text) {
  const filepath = fileURLToPath(new URL(`src/generated/${name}`, root));
  const options = await prettier.resolveConfig(filepath);
  return prettier.format(text, { ...options, filepath });
}

const files = [
  {
    path: 'src/generated/openapi.ts',
    text: await format('openapi.ts', await generateTypes()),
  },
  {
    path: 'src/generated/openapi.json',
    text: await format('openapi.json', await generateDocument()),
  },
];

async function write() {
  await mkdir(new URL('src/generated/', root), { recursive: true });
  for (const { path, text } of files) {
    await writeFile(new URL(path, root), text);
    process.stdout.write(`Wrote ${path}\n`);
  }
}

async function check() {
  for (const { path, text } of files) {
    const committed = await readFile(new URL(path, root), 'utf8').catch(
      () => undefined,
    );
    if (committed !== text) {
      process.stderr.write(
        `${path} is stale: run \`yarn workspace @directory-gateway/backstage-plugin-directory-common generate\` and commit the result\n`,
      );
      process.exitCode = 1;
    }
  }
}

await (process.argv.includes('--check') ? check() : write());
