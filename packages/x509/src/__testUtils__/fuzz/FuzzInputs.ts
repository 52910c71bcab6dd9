import { writePem } from '../../der/pem';
import { parseDer } from '../../der/parseDer';
import { readFixture, readManifest } from '../readManifest';
import { bits, seq } from '../tlv';
import { mutateBytes } from './mutateBytes';
import { mutateTree } from './mutateTree';
import { Random } from './Random';
import { seedCertificate } from './seedCertificate';
import { SeedRequest, seedRequests } from './seedRequests';

const STRATEGIES = [
  'text',
  'bytes',
  'tree',
  'signed',
  'random',
  'certificate',
] as const;

/** An input and the strategy that created it. */
export interface FuzzInput {
  strategy: (typeof STRATEGIES)[number];
  content: string | Buffer;
}

/**
 * Creates inputs from seeds:
 *
 * - `text`: damaged files of the manifest - `bytes`: damaged DER of good
 *   requests
 * - `tree`: good requests with changed values and correct lengths
 * - `signed`: the same in the signed part, signed again, to pass the last check
 * - `random`: bytes that start like a request
 * - `certificate`: a certificate that is damaged or has changed values
 */
export class FuzzInputs {
  readonly #files = readManifest()
    .map(({ file }) => readFixture(file))
    .filter(({ length }) => length < 4096);
  readonly #requests = seedRequests();
  readonly #certificate = seedCertificate();

  /** @param wanted - default: chosen by the seed */
  create(seed: number, wanted?: FuzzInput['strategy']): FuzzInput {
    const random = new Random(seed);
    const strategy = wanted ?? random.pick(STRATEGIES);
    return { strategy, content: this.#createContent(strategy, random) };
  }

  #createContent(
    strategy: FuzzInput['strategy'],
    random: Random,
  ): string | Buffer {
    const request = random.pick(this.#requests);
    switch (strategy) {
      case 'text':
        return mutateBytes(
          Buffer.from(random.pick(this.#files)),
          random,
        ).toString('utf8');
      case 'bytes':
        return armor(mutateBytes(request.der, random));
      case 'tree':
        return armor(mutateTree(request.der, random));
      case 'signed':
        return armor(changeAndSign(request, random));
      case 'certificate':
        return random.pick([mutateBytes, mutateTree])(
          this.#certificate,
          random,
        );
      default:
        return armor(
          seq(
            seq(random.bytes(random.below(200))),
            random.bytes(random.below(90)),
          ),
        );
    }
  }
}

function armor(der: Buffer): string {
  return writePem('CERTIFICATE REQUEST', der);
}

function changeAndSign(request: SeedRequest, random: Random): Buffer {
  const [info, algorithm] = parseDer(request.der).children;
  const changed = mutateTree(info.der, random);
  const signed = random.below(3) === 0 ? changeAgain(changed, random) : changed;
  return seq(signed, algorithm.der, bits(request.sign(signed)));
}

/** Throws if the first change left no structure. */
function changeAgain(changed: Buffer, random: Random): Buffer {
  try {
    return mutateTree(changed, random);
  } catch {
    return changed;
  }
}
