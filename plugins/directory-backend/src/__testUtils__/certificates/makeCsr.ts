import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Options of {@link makeCsr}. */
export interface CsrOptions {
  /** In OpenSSL's syntax, for example `/CN=alice`. */
  readonly subject: string;
  /** In OpenSSL's syntax, for example `email:alice@example.test`. */
  readonly alternativeNames?: string;
  /** The challenge password, in which a test searches a marker. */
  readonly challenge?: string;
}

/** Creates a CSR with a new P-256 key, PEM, with OpenSSL. */
export function makeCsr(options: CsrOptions): string {
  const folder = mkdtempSync(join(tmpdir(), 'csr-'));
  try {
    const configFile = join(folder, 'openssl.cnf');
    writeFileSync(configFile, configOf(options));
    return execFileSync(
      'openssl',
      [
        ...['req', '-new', '-config', configFile, '-subj', options.subject],
        ...['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
        ...['-keyout', join(folder, 'key.pem')],
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
