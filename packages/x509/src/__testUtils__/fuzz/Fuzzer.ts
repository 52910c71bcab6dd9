import { describeCertificate } from '../../description/Certificate';
import { CertificateRequest } from '../../request/CertificateRequest';
import { readCertificateRequest } from '../../request/readCertificateRequest';
import { verifyWithOpenssl, verifyWithPeculiar } from './oracles';
import { FuzzInput, FuzzInputs } from './FuzzInputs';
import { emptyReport, FuzzReport } from './FuzzReport';

/**
 * Reads inputs one by one, and checks accepted requests with other
 * implementations.
 */
export class Fuzzer {
  readonly report: FuzzReport = emptyReport();
  readonly #inputs = new FuzzInputs();
  readonly #opensslEvery: number;
  #accepted = 0;

  /** @param options - `opensslEvery`: every n-th accepted request is checked with `openssl` */
  constructor(options: { opensslEvery: number }) {
    this.#opensslEvery = options.opensslEvery;
  }

  async try(seed: number): Promise<void> {
    const input = this.#inputs.create(seed);
    this.report.inputs += 1;
    const start = performance.now();
    try {
      const result = read(input);
      this.#recordTime(seed, performance.now() - start, input);
      this.#recordOutcome(input.strategy, result.ok ? 'read' : result.code);
      if ('csr' in result) {
        await this.#runOracles(seed, result.csr);
      }
    } catch (error) {
      this.#recordFinding(seed, `threw ${error}`);
    }
  }

  async #runOracles(seed: number, request: CertificateRequest): Promise<void> {
    this.#accepted += 1;
    this.report.peculiar += 1;
    this.#recordFinding(seed, await verifyWithPeculiar(request), 'peculiar');
    if (this.#accepted % this.#opensslEvery === 0) {
      this.report.openssl += 1;
      this.#recordFinding(seed, verifyWithOpenssl(request), 'openssl');
    }
  }

  #recordFinding(
    seed: number,
    finding: string | undefined,
    oracle = 'here',
  ): void {
    if (finding) {
      this.report.findings.push({ seed, what: `${oracle}: ${finding}` });
    }
  }

  #recordOutcome(strategy: string, outcome: string): void {
    const { outcomes } = this.report;
    const key = `${strategy}: ${outcome}`;
    outcomes[key] = (outcomes[key] ?? 0) + 1;
  }

  /** A slow input is measured again, because the machine may have paused. */
  #recordTime(seed: number, first: number, input: FuzzInput): void {
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

function read({ content }: FuzzInput) {
  return typeof content === 'string'
    ? readCertificateRequest(content)
    : describeCertificate(content);
}
