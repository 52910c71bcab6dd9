import { Fuzzer } from './Fuzzer';

/**
 * Runs the seeds from the first argument to the second (exclusive), and sends
 * the report to its parent.
 */
async function main([from, to]: number[]): Promise<void> {
  const fuzzer = new Fuzzer({ opensslEvery: 150 });
  for (let seed = from; seed < to; seed += 1) {
    process.send?.({ seed });
    await fuzzer.try(seed);
  }
  process.send?.({ report: fuzzer.report });
}

main(process.argv.slice(2).map(Number)).finally(() => process.disconnect?.());
