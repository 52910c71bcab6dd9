import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Options of {@link makeCsr}. */
export interface CsrOptions {
  /** Subject in OpenSSL's syntax, for example `/CN=alice`. */
  readonly subject: string;
  /**
   * Alternative names in OpenSSL's syntax, for example
   * `email:alice@example.test`.
   */
  readonly alternativeNames?: string;
  /** Challenge password; tests use it as a marker to search for. */
  readonly challenge?: string;
  /** Arguments of `openssl req` for the new key. Default: P-256. */
  readonly newKey?: readonly string[];
}

/** Creates a PEM-encoded CSR with a new key, using OpenSSL. */
export function makeCsr(options: CsrOptions): string {
  const { newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'] } =
    options;
  const folder = mkdtempSync(join(tmpdir(), 'csr-'));
  try {
    const configFile = join(folder, 'openssl.cnf');
    writeFileSync(configFile, configOf(options));
    return execFileSync(
      'openssl',
      [
        ...['req', '-new', '-config', configFile, '-subj', options.subject],
        ...[...newKey, '-nodes', '-keyout', join(folder, 'key.pem')],
      ],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function configOf({ alternativeNames, challenge }: CsrOptions): string {
  return [
    '[req]',
    'prompt = no',
    'utf8 = yes',
    'distinguished_name = name',
    ...(alternativeNames ? ['req_extensions = extensions'] : []),
    ...(challenge ? ['attributes = attributes'] : []),
    '[name]',
    '[attributes]',
    `challengePassword = ${challenge}`,
    '[extensions]',
    `subjectAltName = ${alternativeNames}`,
  ].join('\n');
}
