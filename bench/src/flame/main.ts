import { readFile, writeFile } from 'node:fs/promises';
import { describeFlameGraph } from './describeFlameGraph';
import { drawFlameGraph } from './drawFlameGraph';
import { readCpuProfile } from './readCpuProfile';

/*
 * `bench/flame PROFILE PICTURE TITLE`: draws what `PROFILE=… make bench` wrote
 * as SVG, and prints where the time goes.
 */

main().catch(error => {
  process.stderr.write(`flame: ${error.message}\n`);
  process.exitCode = 1;
});

async function main(): Promise<void> {
  const [profile, picture, title] = process.argv.slice(2);
  if (!title) {
    throw new Error('usage: bench/flame PROFILE PICTURE TITLE');
  }
  const root = readCpuProfile(JSON.parse(await readFile(profile, 'utf8')));
  const description = describeFlameGraph(root);
  await writeFile(picture, drawFlameGraph(root, { title, description }));
  process.stdout.write(`${description}\n`);
}
