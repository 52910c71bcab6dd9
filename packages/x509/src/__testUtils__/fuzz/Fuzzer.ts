import { describeCertificate } from '../../description/describeCertificate';
import { CertificateRequest } from '../../request/CertificateRequest';
import { readCertificateRequest } from '../../request/readCertificateRequest';
import { askOpenssl, askPeculiar } from './askOracles';
import { FuzzInput, FuzzInputs } from './FuzzInputs';
import { emptyReport, FuzzReport } from './FuzzReport';

/** Reads one input after the other, and asks the oracles about what was accepted. */
export class Fuzzer {
  readonly report: FuzzReport = emptyReport();
  readonly #inputs = new FuzzInputs();
  readonly #opensslEvery: number;
  #accepted = 0;

  /** @param options - `opensslEvery`: of so many accepted requests, one is shown to the command */
  constructor(options: { opensslEvery: number }) {
    this.#opensslEvery = options.opensslEvery;
  }

  async try(seed: number): Promise<void> {
    const input = this.#inputs.create(seed);
    this.report.inputs += 1;
    const start = performance.now();
    try {
      const result = read(input);
      this.#noteTime(seed, performance.now() - start, input);
      this.#noteOutcome(input.strategy, result.ok ? 'read' : result.code);
      if ('csr' in result) {
        await this.#askOracles(seed, result.csr);
      }
    } catch (error) {
      this.#noteFinding(seed, `threw ${error}`);
    }
  }

  async #askOracles(seed: number, request: CertificateRequest): Promise<void> {
    this.#accepted += 1;
    this.report.peculiar += 1;
    this.#noteFinding(seed, await askPeculiar(request), 'peculiar');
    if (this.#accepted % this.#opensslEvery === 0) {
      this.report.openssl += 1;
      this.#noteFinding(seed, askOpenssl(request), 'openssl');
    }
  }

  #noteFinding(
    seed: number,
    finding: string | undefined,
    oracle = 'here',
  ): void {
    if (finding) {
      this.report.findings.push({ seed, what: `${oracle}: ${finding}` });
    }
  }

  #noteOutcome(strategy: string, outcome: string): void {
    const { outcomes } = this.report;
    const key = `${strategy}: ${outcome}`;
    outcomes[key] = (outcomes[key] ?? 0) + 1;
  }

  /** What seems slow is measured again, for a pause of the machine is not the input's fault. */
  #noteTime(seed: number, first: number, input: FuzzInput): void {
    const { slowest } = this.report;
    if (first <= slowest.milliseconds) {
      return;
    }
    const times = [first, ...Array.from({ length: 3 }, () => measure(input))];
    const milliseconds = Math.min(...times);
    if (milliseconds > slowest.milliseconds) {
      this.report.slowest = { seed, milliseconds };
    }
  }
}

function measure(input: FuzzInput): number {
  const start = performance.now();
  read(input);
  return performance.now() - start;
}

function read({ strategy, content }: FuzzInput) {
  return strategy === 'certificate' && Buffer.isBuffer(content)
    ? describeCertificate(content)
    : readCertificateRequest(content);
}
