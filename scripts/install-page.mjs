// Reads docs/install.md: its code blocks, and the action for each of them.
//
// A block follows a comment that names its action:
//
//   <!-- install: run -->              commands, in the portal's root folder
//   <!-- install: run in FOLDER -->    … in another folder
//   <!-- install: start in FOLDER -->  a command that runs until the test ends
//   <!-- install: output -->           output of the previous block;
//                                      `…` is any text
//   <!-- install: write FILE -->       the complete file
//   <!-- install: merge FILE -->       keys of a JSON or YAML file
//   <!-- install: edit FILE -->        a diff without line numbers
//   <!-- install: check unit -->       a systemd unit
//   <!-- install: sign in -->          not a block: sign-in in a browser
//   <!-- install: skip REASON -->      cannot run in the test

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const PAGE = 'docs/install.md';

/** Titles, comments with their blocks, and blocks without a comment. */
const PARTS =
  /^#{2,3} (?<title>.+)|^\*\*(?<number>[\d.]+)\.\*\*|^<!-- install: (?<comment>.+) -->(?:\n\n```\w+\n(?<text>[^]*?)^```$)?|^```/gm;

const ACTION =
  /^(run|start|output|write|merge|edit|check unit|sign in|skip)(?: in)? ?(.*)$/;

/**
 * Returns the steps of the page in order: section, action, text of the block,
 * and `operand`: the folder, file or reason.
 *
 * @throws Error for a block without a comment, or with an unknown one
 */
export function readInstallPage() {
  const page = readFileSync(join(import.meta.dirname, '..', PAGE), 'utf8');
  const steps = [];
  let section;
  for (const { groups, index } of page.matchAll(PARTS)) {
    const { title, number, comment, text = '' } = groups;
    if (title || number) {
      section = title ?? number;
      continue;
    }
    const [, action, operand] = ACTION.exec(comment ?? '') ?? [];
    if (!action) {
      const line = page.slice(0, index).split('\n').length;
      throw new Error(`${PAGE}:${line}: a block without a known action`);
    }
    steps.push({ section, action, operand, text });
  }
  return steps;
}

/**
 * Applies a diff without line numbers to a text.
 *
 * @throws Error when its lines do not occur exactly once in the text
 */
export function applyDiff(text, diff) {
  const lines = diff.trimEnd().split('\n');
  const linesWithout = sign =>
    lines
      .filter(line => !line.startsWith(sign))
      .map(line => `${line.slice(1)}\n`)
      .join('');
  const parts = `\n${text}`.split(`\n${linesWithout('+')}`);
  if (parts.length !== 2) {
    throw new Error(`the lines occur ${parts.length - 1} times:\n${diff}`);
  }
  return parts.join(`\n${linesWithout('-')}`).slice(1);
}

/**
 * Merges the keys of a JSON or YAML text into another; lists are replaced.
 *
 * @returns JSON, which is also YAML
 */
export function mergeText(text, addition) {
  const merged = merge(parse(text) ?? {}, parse(addition));
  return `${JSON.stringify(merged, undefined, 2)}\n`;
}

function merge(target, addition) {
  if (addition?.constructor !== Object || target?.constructor !== Object) {
    return addition;
  }
  const merged = { ...target };
  for (const [key, value] of Object.entries(addition)) {
    merged[key] = merge(target[key], value);
  }
  return merged;
}
