// Writes docs/configuration.md from the config.d.ts files of the packages.
//
//   scripts/yarn node scripts/configuration-reference.mjs           writes it
//   scripts/yarn node scripts/configuration-reference.mjs --check   fails if it is stale
//
// A block with the tag @example becomes a section. In addition to the tags that
// Backstage's schemas keep (@default, @visibility), two sentences of a
// description move to columns: "Default: …" for a default that is not a literal
// value, and "Required unless …" or "Required when …".

import { loadConfigSchema } from '@backstage/config-loader';
import { glob, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import prettier from 'prettier';
import ts from 'typescript';
import { stringify } from 'yaml';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const file = join(root, 'docs/configuration.md');

const introduction = `<!-- Generated from the config.d.ts files of the packages by scripts/configuration-reference.mjs. Edit those files instead. -->

# Configuration

All keys that the packages of this project read from \`app-config.yaml\`. Keys of Backstage itself are in [its documentation](https://backstage.io/docs/conf/). \`app-config.production.yaml\` is a template for production, loaded after \`app-config.yaml\`.

- The keys of a table are relative to the block that the section is named after. \`[]\` is each element of a list, \`*\` each key of an object.
- **Required** means: within its block. A block itself is optional unless its section says otherwise.
- A duration is a string such as \`90s\`, \`6 hours\` or \`P30D\`, or an object such as \`{ days: 30 }\`.
- Keys marked **secret** are redacted in logs and never sent to browsers. Keys marked **frontend** are sent to browsers.

`;

/** Returns the packages with a configuration schema. */
export async function packagesWithSchema() {
  const packages = [];
  for await (const manifest of glob('{packages,plugins}/*/package.json', {
    cwd: root,
  })) {
    const { name, configSchema } = JSON.parse(
      await readFile(join(root, manifest), 'utf8'),
    );
    if (configSchema) {
      packages.push({
        name,
        source: join(root, dirname(manifest), configSchema),
      });
    }
  }
  return packages.sort((a, b) => a.name.localeCompare(b.name));
}

/**
 * Returns the blocks of all packages: path, packages, description, example
 * (YAML from the root of the configuration) and keys, each with its path
 * relative to the block.
 */
export async function readBlocks() {
  const packages = await packagesWithSchema();
  const loaded = await loadConfigSchema({
    dependencies: packages.map(({ name }) => name),
  });
  const { schemas } = loaded.serialize();

  const blocks = new Map();
  for (const { source } of packages) {
    for (const [path, example] of await examplesOf(source)) {
      blocks.set(path, { path, example, packages: new Set(), keys: new Map() });
    }
  }
  for (const { name } of packages) {
    const { value } = schemas.find(({ packageName }) => packageName === name);
    for (const key of keysOf(value)) {
      addKey({ blocks, name, key });
    }
  }
  return [...blocks.values()].sort((a, b) => a.path.localeCompare(b.path));
}

/** Returns the YAML of `@example` tags by path of their block. */
async function examplesOf(source) {
  const examples = new Map();
  const visit = (node, prefix) => {
    if (!ts.isPropertySignature(node)) {
      ts.forEachChild(node, child => visit(child, prefix));
      return;
    }
    const path = `${prefix}${node.name.text}`;
    for (const tag of ts.getJSDocTags(node)) {
      if (tag.tagName.text === 'example') {
        const [, yaml] = /^```yaml\n([^]*)\n```$/.exec(
          ts.getTextOfJSDocComment(tag.comment).trim(),
        );
        examples.set(path, yaml);
      }
    }
    ts.forEachChild(node, child => visit(child, `${path}.`));
  };
  visit(
    ts.createSourceFile(
      source,
      await readFile(source, 'utf8'),
      ts.ScriptTarget.Latest,
      true,
    ),
    '',
  );
  return examples;
}

/** Adds a key to its block, which may be declared by several packages. */
function addKey({ blocks, name, key }) {
  // The objects around a block of the package have no description.
  if (key.description === undefined) {
    return;
  }
  const own = blocks.get(key.path);
  if (own) {
    own.packages.add(name);
    own.description = longer(own.description, key.description);
    own.isRequired ||= key.isRequired;
    return;
  }
  const [block] = [...blocks.values()]
    .filter(({ path }) => /^(\[\])?\./.test(relativeTo(path, key.path)))
    .sort((a, b) => b.path.length - a.path.length);
  block.packages.add(name);
  const relative = relativeTo(block.path, key.path).replace(/^\./, '');
  const id = `${relative} ${key.variant ?? ''}`;
  const earlier = block.keys.get(id);
  block.keys.set(id, {
    ...key,
    ...earlier,
    key: relative,
    description: longer(earlier?.description, key.description),
    visibility: earlier?.visibility ?? key.visibility,
  });
}

function relativeTo(parent, path) {
  return path.startsWith(parent) ? path.slice(parent.length) : '';
}

/** Returns the longer description of a key that two packages declare. */
function longer(one = '', other = '') {
  return other.length > one.length ? other : one;
}

/** Yields all keys of a schema with their paths. */
function* keysOf(schema, prefix = '') {
  if (schema.anyOf && !isDuration(schema)) {
    yield* keysOfVariants(schema.anyOf, prefix);
  }
  const required = new Set(schema.required ?? []);
  for (const [name, value] of Object.entries(schema.properties ?? {})) {
    const path = `${prefix}${name}`;
    yield describeKey({ path, value, isRequired: required.has(name) });
    yield* nestedKeysOf(value, path);
  }
}

function* nestedKeysOf(value, path) {
  if (isDuration(value)) {
    return;
  }
  if (value.type === 'array') {
    yield* keysOf(value.items, `${path}[].`);
    return;
  }
  yield* keysOf(value, `${path}.`);
  if (typeof value.additionalProperties === 'object') {
    yield* nestedKeysOf(value.additionalProperties, `${path}.*`);
  }
}

/**
 * Yields the keys of a union of objects: one for each value of the constant
 * that distinguishes the objects, and the others with the values for which they
 * apply.
 */
function* keysOfVariants(variants, prefix) {
  const nameOf = ({ properties }) =>
    Object.values(properties).find(value => value.const !== undefined).const;
  const keys = variants.flatMap(variant =>
    [...keysOf(variant, prefix)].map(key => ({ ...key, of: nameOf(variant) })),
  );
  for (const key of keys.filter(({ variant }) => variant)) {
    yield key;
  }
  const others = Map.groupBy(
    keys.filter(({ variant }) => !variant),
    ({ path }) => path,
  );
  for (const same of others.values()) {
    const names = same.map(({ of }) => `\`${of}\``).join(' and ');
    yield {
      ...same[0],
      description: `${same[0].description} For ${names}.`,
    };
  }
}

function describeKey({ path, value, isRequired }) {
  let { description } = value;
  const take = pattern => {
    const found = pattern.exec(description ?? '');
    if (found) {
      description = description.replace(pattern, '').trim();
    }
    return found?.[1];
  };
  const condition = take(/\bRequired ((?:unless|when) [^.]*(?:\.\w[^.]*)*)\./);
  const computedDefault = take(/\bDefault: (.*)\.$/s);
  return {
    path,
    variant: value.const,
    type: typeOf(value),
    isRequired,
    condition,
    default: value.default,
    computedDefault,
    visibility: value.visibility,
    description,
  };
}

/** Whether a schema is that of Backstage's \`HumanDuration | string\`. */
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
  if (value.type !== 'array') {
    return value.type;
  }
  const type = value.items.anyOf ? 'object' : typeOf(value.items);
  return `list of ${/^\w+$/.test(type) ? `${type}s` : type}`;
}

function defaultOf(key) {
  if (key.computedDefault) {
    return key.computedDefault;
  }
  if (key.default === undefined) {
    return '';
  }
  return `\`${inYaml(key.default)}\``;
}

/** Returns a value as YAML on one line. */
function inYaml(value) {
  return stringify(value, {
    collectionStyle: 'flow',
    flowCollectionPadding: !Array.isArray(value),
    lineWidth: 0,
  }).trim();
}

function requiredOf({ isRequired, condition }) {
  return condition ?? (isRequired ? 'yes' : 'no');
}

function rowOf(key) {
  const mark = { secret: ' **Secret.**', frontend: ' **Frontend.**' };
  const cells = [
    `\`${key.key}\``,
    key.type,
    requiredOf(key),
    defaultOf(key),
    `${key.description}${mark[key.visibility] ?? ''}`,
  ];
  return `| ${cells
    .map(cell => cell.replace(/\s+/g, ' ').replaceAll('|', '\\|'))
    .join(' | ')} |`;
}

function sectionOf(block) {
  const rows = [...block.keys.values()].map(rowOf);
  const packages = [...block.packages].map(name => `\`${name}\``).join(', ');
  return [
    `## ${block.path}`,
    block.description,
    `${block.isRequired ? 'Required. ' : ''}Read by ${packages}.`,
    '```yaml',
    `${block.example}\n\`\`\``,
    ...(rows.length === 0
      ? []
      : [
          [
            '| Key | Type | Required | Default | Description |',
            '| --- | --- | --- | --- | --- |',
            ...rows,
          ].join('\n'),
        ]),
  ]
    .join('\n\n')
    .replace('```yaml\n\n', '```yaml\n');
}

async function compose() {
  const sections = (await readBlocks()).map(sectionOf);
  const text = `${introduction}${sections.join('\n\n')}\n`;
  const options = await prettier.resolveConfig(file);
  return await prettier.format(text, { ...options, parser: 'markdown' });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = await compose();
  if (!process.argv.includes('--check')) {
    await writeFile(file, text);
  } else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
    console.error(
      'docs/configuration.md is stale: run "scripts/yarn node scripts/configuration-reference.mjs"',
    );
    process.exitCode = 1;
  }
}
