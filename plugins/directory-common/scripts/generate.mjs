/**
 * Generates `src/generated` from `src/openapi.yaml`. With `--check`, exits with
 * status 1 when the committed files are outdated.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString, COMMENT_HEADER } from 'openapi-typescript';
import prettier from 'prettier';
import ts from 'typescript';
import { parse } from 'yaml';

const root = new URL('../', import.meta.url);
const source = new URL('src/openapi.yaml', root);

/** Comments for generated declarations without one. */
const TAGS = {
  'export interface paths {':
    'The operations of the API, by path and method. @public',
  'export interface components {': 'The schemas of the API, by name. @public',
  'export interface operations {':
    'The operations of the API, by operation ID. @public',
  'type WithRequired<': '@ignore',
};

/**
 * Replaces the JSDoc tags of openapi-typescript that TSDoc does not support.
 */
function toTsDoc(comment) {
  const indent = /^ */.exec(comment)[0];
  const [text, ...examples] = comment
    .replace(/^ *\/\*\*| *\*\/\n$/g, '')
    // Lines of a text after the first one are indented.
    .replace(/^ *\* ?( {4})?/gm, '')
    .replace(/@description /, '\n')
    .replace(/@constant|@enum \{\w+\}/, '')
    .split('@example ');
  const lines = [
    ...text.trim().split('\n'),
    ...examples.flatMap(example => [
      '',
      '@example',
      '```',
      ...example.trim().split('\n'),
      '```',
    ]),
  ].map(line => `${indent} * ${line.trimEnd()}`);
  if (text.trim() === '' && examples.length === 0) {
    return '';
  }
  return lines.length === 1
    ? `${indent}/** ${text.trim()} */\n`
    : `${indent}/**\n${lines.join('\n')}\n${indent} */\n`;
}

/** Types serial numbers as bigint: they have up to 160 bits. */
function bigintTypes(schema) {
  return schema.format === 'bigint'
    ? ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword)
    : undefined;
}

async function generateTypes() {
  const ast = await openapiTS(source, { transform: bigintTypes });
  const types = Object.entries(TAGS).reduce(
    (text, [declaration, comment]) =>
      text.replace(declaration, `/** ${comment} */\n${declaration}`),
    astToString(ast).replace(/^ *\/\*\*[^]*?\*\/\n/gm, toTsDoc),
  );
  return `${COMMENT_HEADER}${types}`;
}

async function generateDocument() {
  const document = parse(await readFile(source, 'utf8'));
  return JSON.stringify(document);
}

/**
 * Formats code with the settings of the repository, so that reformatting does
 * not change it.
 */
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
