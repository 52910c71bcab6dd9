// Writes docs/configuration.md from the config.d.ts files of the packages.
//
//   scripts/yarn node scripts/configuration-reference.mjs
//
// A block with the tag @example becomes a section. In addition to the tags
// @default and @visibility, two sentences of a description move to columns:
// "Default: …" for a default that is not a literal value, and "Required unless …"
// or "Required when …".

import { globSync, readFileSync, writeFileSync } from 'node:fs';
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

- The keys of a table are relative to the block that the section is named after. \`[]\` is each element of a list.
- **Required** means: within its block. A block itself is optional unless its section says otherwise.
- A duration is a string such as \`90s\`, \`6 hours\` or \`P30D\`, or an object such as \`{ days: 30 }\`.
- Keys marked **secret** are redacted in logs and never sent to browsers. Keys marked **frontend** are sent to browsers.

`;

/**
 * Returns the blocks of all packages: path, packages, description, example
 * (YAML from the root of the configuration) and keys, each with its path
 * relative to the block.
 */
export function readBlocks() {
  const keys = globSync('{packages,plugins}/*/package.json', { cwd: root })
    .map(manifest => ({
      folder: join(root, dirname(manifest)),
      ...JSON.parse(readFileSync(join(root, manifest), 'utf8')),
    }))
    .filter(({ configSchema }) => configSchema)
    .sort((a, b) => a.name.localeCompare(b.name))
    .flatMap(({ name, folder, configSchema }) => {
      const text = readFileSync(join(folder, configSchema), 'utf8');
      const { Latest } = ts.ScriptTarget;
      const source = ts.createSourceFile(configSchema, text, Latest, true);
      return [...keysOf(source)].map(key => ({ ...key, name }));
    });
  const blocks = new Map();
  for (const { path, example } of keys.filter(key => key.example)) {
    blocks.set(path, { path, example, packages: new Set(), keys: new Map() });
  }
  keys.forEach(key => addKey(blocks, key));
  return [...blocks.values()].sort((a, b) => a.path.localeCompare(b.path));
}

/** Yields the keys that a syntax node declares, with their paths. */
function* keysOf(node, prefix = '') {
  let below = prefix;
  if (ts.isPropertySignature(node)) {
    const path = `${prefix}${node.name.text}`;
    below = elementOf(node.type) ? `${path}[].` : `${path}.`;
    yield describeKey(node, path);
  }
  const children = [];
  ts.forEachChild(node, child => void children.push(child));
  for (const child of children) {
    yield* keysOf(child, below);
  }
}

function describeKey(node, path) {
  const tags = new Map(
    ts
      .getJSDocTags(node)
      .map(tag => [
        tag.tagName.text,
        ts.getTextOfJSDocComment(tag.comment)?.trim(),
      ]),
  );
  const comment = ts.getTextOfJSDocComment(node.jsDoc?.at(-1)?.comment);
  // Joins the lines of a paragraph.
  let description = comment?.replace(/(?<!\n)\n(?!\n)/g, ' ');
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
    isLiteral: ts.isLiteralTypeNode(node.type),
    variant: variantOf(node.parent),
    type: typeOf(node.type),
    required: condition ?? (node.questionToken ? 'no' : 'yes'),
    default: valueOf(tags.get('default')),
    computedDefault,
    visibility: tags.get('visibility'),
    example: /^```yaml\n([^]*)\n```$/.exec(tags.get('example'))?.[1],
    description,
  };
}

/** Returns the constant that distinguishes an object type of a union. */
function variantOf({ parent, members }) {
  return ts.isUnionTypeNode(parent)
    ? members.find(({ type }) => ts.isLiteralTypeNode(type))?.type.literal.text
    : undefined;
}

/** Returns the type of the elements of a list. */
function elementOf(type) {
  return (
    type.elementType ??
    (type.typeName?.text === 'Array' ? type.typeArguments[0] : undefined)
  );
}

function typeOf(type) {
  const element = elementOf(type);
  if (element) {
    const name = typeOf(element);
    return `list of ${/^\w+$/.test(name) ? `${name}s` : name}`;
  }
  if (type.types?.every(ts.isLiteralTypeNode)) {
    return type.types.map(typeOf).join(', ');
  }
  if (ts.isLiteralTypeNode(type)) {
    return `\`${type.literal.text}\``;
  }
  const text = type.getText();
  return text === 'HumanDuration | string'
    ? 'duration'
    : text.replace(/^[{|][^]*/, 'object');
}

/** Returns the value of a tag, which is JSON or a string. */
function valueOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Adds a key to its block, which may be declared by several packages. */
function addKey(blocks, key) {
  // The objects around a block of the package have no description.
  if (key.description === undefined) {
    return;
  }
  const own = blocks.get(key.path);
  if (own) {
    own.packages.add(key.name);
    own.description = longer(own.description, key.description);
    own.isRequired ||= key.required === 'yes';
    return;
  }
  const [block] = [...blocks.values()]
    .filter(({ path }) => /^(\[\])?\./.test(relativeTo(path, key.path)))
    .sort((a, b) => b.path.length - a.path.length);
  block.packages.add(key.name);
  const relative = relativeTo(block.path, key.path).replace(/^\./, '');
  const id = key.isLiteral ? `${relative} ${key.variant}` : relative;
  const earlier = block.keys.get(id);
  const variants = [earlier?.variants ?? [], key.variant ?? []].flat();
  block.keys.set(id, {
    ...key,
    ...earlier,
    key: relative,
    variants,
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

function defaultOf(key) {
  const literal = key.default === undefined ? '' : `\`${inYaml(key.default)}\``;
  return key.computedDefault ?? literal;
}

/** Returns a value as YAML on one line. */
function inYaml(value) {
  return stringify(value, {
    collectionStyle: 'flow',
    flowCollectionPadding: !Array.isArray(value),
    lineWidth: 0,
  }).trim();
}

function rowOf(key) {
  const marks = { secret: ' **Secret.**', frontend: ' **Frontend.**' };
  const names = key.variants.map(name => `\`${name}\``).join(' and ');
  const condition = names && !key.isLiteral ? ` For ${names}.` : '';
  const mark = marks[key.visibility] ?? '';
  const cells = [
    `\`${key.key}\``,
    key.type,
    key.required,
    defaultOf(key),
    `${key.description}${condition}${mark}`,
  ];
  return `| ${cells
    .map(cell => cell.replace(/\s+/g, ' ').replaceAll('|', '\\|'))
    .join(' | ')} |`;
}

function sectionOf(block) {
  const rows = [...block.keys.values()]
    .sort((a, b) => Number(b.isLiteral) - Number(a.isLiteral))
    .map(rowOf);
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

/** Returns the text of docs/configuration.md. */
export async function composeReference() {
  const sections = readBlocks().map(sectionOf);
  const text = `${introduction}${sections.join('\n\n')}\n`;
  const options = await prettier.resolveConfig(file);
  return await prettier.format(text, { ...options, parser: 'markdown' });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(file, await composeReference());
}
