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
import { parse, stringify } from 'yaml';

const root = join(import.meta.dirname, '..');
const PAGE = 'docs/install.md';

const ACTION =
  /^(?:(run|start)(?: in (\S+))?|(write|merge|edit) (\S+)|(skip) (.+)|(output|check unit|sign in))$/;

/**
 * Returns the steps of the page in order.
 *
 * @throws Error for a block without a comment, or with an unknown one
 */
export function readInstallPage() {
  const steps = [];
  let section;
  let comment;
  let block;
  readFileSync(join(root, PAGE), 'utf8')
    .split('\n')
    .forEach((line, index) => {
      const where = `${PAGE}:${index + 1}`;
      if (block) {
        if (line === '```') {
          block = undefined;
        } else {
          block.text += `${line}\n`;
        }
        return;
      }
      const [, title] = /^#{2,3} (.+)$|^\*\*(?=[\d.]+\.\*\*)/.exec(line) ?? [];
      section = title ?? /^\*\*([\d.]+)\.\*\*/.exec(line)?.[1] ?? section;
      const text = /^<!-- install: (.+) -->$/.exec(line)?.[1];
      if (text !== undefined) {
        const match = ACTION.exec(text);
        if (!match) {
          throw new Error(`${where}: unknown action "${text}"`);
        }
        const [, command, folder, change, file, skip, reason, other] = match;
        comment = {
          where,
          section,
          action: command ?? change ?? skip ?? other,
          folder,
          file,
          reason,
          text: '',
        };
        if (other === 'sign in') {
          steps.push(comment);
          comment = undefined;
        }
        return;
      }
      if (line.startsWith('```')) {
        if (!comment) {
          throw new Error(`${where}: a block without <!-- install: … -->`);
        }
        block = comment;
        comment = undefined;
        block.language = line.slice(3);
        steps.push(block);
      }
    });
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

/** Merges the keys of a JSON or YAML text into another; lists are replaced. */
export function mergeText(file, text, addition) {
  const isJson = file.endsWith('.json');
  const merged = merge(parse(text) ?? {}, parse(addition));
  return isJson
    ? `${JSON.stringify(merged, undefined, 2)}\n`
    : stringify(merged);
}

function merge(target, addition) {
  const isObject = value =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject(target) && isObject(addition)
    ? Object.fromEntries(
        [...new Set([...Object.keys(target), ...Object.keys(addition)])].map(
          key => [
            key,
            Object.hasOwn(addition, key)
              ? merge(target[key], addition[key])
              : target[key],
          ],
        ),
      )
    : addition;
}
