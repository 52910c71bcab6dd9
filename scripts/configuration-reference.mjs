// Writes docs/configuration.md from the config schemas of the packages.
//
//   node scripts/configuration-reference.mjs            writes it
//   node scripts/configuration-reference.mjs --check    fails when it is stale

import { loadConfigSchema } from '@backstage/config-loader';
import { glob, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import prettier from 'prettier';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const file = join(root, 'docs/configuration.md');

const introduction = `<!-- Made from the packages' config.d.ts by scripts/configuration-reference.mjs: change them, not this. -->

# Configuration

Every key that the project's packages read, with its default. They stand in Backstage's \`app-config.yaml\`, beside [its own](https://backstage.io/docs/conf/); \`app-config.production.yaml\` is where a site starts.

A duration is text such as \`90s\`, \`6 hours\` or \`P30D\`, or a block such as \`{ days: 30 }\`. \`[]\` stands for each element of a list.

`;

/** Packages with a configuration schema, by folder. */
async function packagesWithSchema() {
  const folders = [];
  for await (const manifest of glob('{packages,plugins}/*/package.json', {
    cwd: root,
  })) {
    const { name, configSchema } = JSON.parse(
      await readFile(join(root, manifest), 'utf8'),
    );
    if (configSchema) {
      folders.push({ name, folder: dirname(manifest) });
    }
  }
  return folders.sort((a, b) => a.folder.localeCompare(b.folder));
}

/** Returns all keys of a schema with their paths. */
function* keysOf(schema, prefix = '') {
  const required = new Set(schema.required ?? []);
  for (const [name, value] of Object.entries(schema.properties ?? {})) {
    const key = `${prefix}${name}`;
    yield { key, value, isRequired: required.has(name) };
    yield* nestedKeysOf(value, key);
  }
}

function* nestedKeysOf(value, key) {
  if (isDuration(value)) {
    return;
  }
  if (value.type === 'array') {
    yield* keysOf(value.items, `${key}[].`);
    return;
  }
  yield* keysOf(value, `${key}.`);
  if (typeof value.additionalProperties === 'object') {
    yield* nestedKeysOf(value.additionalProperties, `${key}.*`);
  }
}

/** Backstage's \`HumanDuration | string\`. */
function isDuration({ anyOf }) {
  return anyOf?.some(({ properties }) => properties?.milliseconds) ?? false;
}

function typeOf(value) {
  if (isDuration(value)) {
    return 'duration';
  }
  if (value.enum) {
    return value.enum.map(choice => `\`${choice}\``).join(', ');
  }
  if (value.const !== undefined) {
    return `\`${value.const}\``;
  }
  if (value.anyOf) {
    return value.anyOf.map(typeOf).join(' or ');
  }
  return value.type === 'array'
    ? `list of ${pluralOf(typeOf(value.items))}`
    : value.type ?? 'any';
}

function pluralOf(type) {
  return /^[a-z]+$/.test(type) ? `${type}s` : type;
}

function rowOf({ key, value, isRequired }) {
  const notes = [
    ...(isRequired ? ['Required.'] : []),
    ...(value.visibility === 'secret' ? ['A secret.'] : []),
    ...(value.visibility === 'frontend' ? ['Sent to browsers.'] : []),
    value.description?.replace(/\s+/g, ' ') ?? '',
  ];
  const cells = [`\`${key}\``, typeOf(value), notes.join(' ').trim()];
  return `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

async function compose() {
  const packages = await packagesWithSchema();
  const loaded = await loadConfigSchema({
    dependencies: packages.map(({ name }) => name),
  });
  const { schemas } = loaded.serialize();
  const sections = packages.map(({ name, folder }) => {
    const { value } = schemas.find(({ packageName }) => packageName === name);
    // The block of other packages has no description.
    const rows = [...keysOf(value)]
      .filter(
        ({ value: { description, type } }) => description || type !== 'object',
      )
      .map(rowOf);
    return [
      `## ${name}`,
      `[${folder}](../${folder}/README.md)`,
      ['| key | type | what it does |', '| --- | --- | --- |', ...rows].join(
        '\n',
      ),
    ].join('\n\n');
  });
  const text = `${introduction}${sections.join('\n\n')}\n`;
  const options = await prettier.resolveConfig(file);
  return await prettier.format(text, { ...options, parser: 'markdown' });
}

const text = await compose();
if (!process.argv.includes('--check')) {
  await writeFile(file, text);
} else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
  console.error(
    'docs/configuration.md is stale: node scripts/configuration-reference.mjs',
  );
  process.exitCode = 1;
}
