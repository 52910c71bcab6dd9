/**
 * Checks of the embedded CA for `directory-doctor`.
 *
 * @packageDocumentation
 */
import { toError } from '@backstage/errors';
import {
  type Database,
  type DoctorCheck,
  type DoctorFinding,
  finding,
} from '@directory-gateway/backstage-plugin-directory-node';
import { type KeyObject, X509Certificate } from 'node:crypto';
import {
  type AuthorityRecord,
  AuthorityStore,
  readChainFile,
} from './authority/AuthorityStore';
import { KeyFile } from './authority/KeyFile';
import {
  authorityIdOf,
  createSigningAuthority,
} from './authority/SigningAuthority';
import { type EmbeddedCaConfig, readEmbeddedCaConfig } from './config';
import { AUTHORITIES } from './database/rows';

const BLOCK = 'directory.certificates.embedded';

const NOT_CONFIGURED = finding.skip(`${BLOCK} is not configured`);

/** Users need time to install a renewed CA certificate. */
const EXPIRY_WARNING_MS = 90 * 24 * 60 * 60 * 1000;

/** Time for the portal to respond. */
const CRL_TIMEOUT_MS = 2000;

/**
 * The checks of the embedded CA for `directory-doctor`.
 *
 * @public
 */
export const doctorChecks: readonly DoctorCheck[] = [
  check('embedded-ca-key', [], checkKey),
  check('embedded-ca-certificate', ['embedded-ca-key'], checkCertificate),
  {
    id: 'embedded-ca-crl',
    after: ['base-url', 'embedded-ca-key'],
    async run({ config }) {
      return readEmbeddedCaConfig(config)
        ? await checkCrlAddress(new URL(config.getString('backend.baseUrl')))
        : NOT_CONFIGURED;
    },
  },
];

interface State {
  readonly config: EmbeddedCaConfig;
  readonly key?: KeyObject;
  /** `undefined` when the database is not accessible or has none. */
  readonly recorded?: AuthorityRecord;
  /** The provided chain, or that of the record. */
  readonly chain?: readonly Buffer[];
}

function check(
  id: string,
  after: readonly string[],
  evaluate: (state: State) => DoctorFinding,
): DoctorCheck {
  return {
    id,
    after: ['database', ...after],
    async run(context) {
      const config = readEmbeddedCaConfig(context.config);
      if (!config) {
        return NOT_CONFIGURED;
      }
      try {
        const database = await context.database();
        const recorded = database && (await findRecord(database));
        const { origin, keyFile: path, passphraseFile } = config;
        const key = await new KeyFile({ path, passphraseFile }).read();
        const chain =
          origin.kind === 'provided'
            ? await readChainFile(origin.chainFile)
            : recorded?.chain;
        return evaluate({ config, key, recorded, chain });
      } catch (error) {
        const { message } = toError(error);
        return finding.fail(
          message.replace(/: run chmod.*$/, ''),
          /accessible to other users/.test(message)
            ? `chmod 600 ${config.keyFile}`
            : `restore the key, its passphrase and the chain from a backup, owned by the portal's user`,
        );
      }
    },
  };
}

async function findRecord(
  database: Database,
): Promise<AuthorityRecord | undefined> {
  return (await database.schema.hasTable(AUTHORITIES))
    ? await new AuthorityStore(database).findCurrent()
    : undefined;
}

function checkKey({ config, key, recorded, chain }: State): DoctorFinding {
  const path = config.keyFile;
  if (!key) {
    return recorded || config.origin.kind === 'provided'
      ? finding.fail(
          `${path} (${BLOCK}.keyFile) does not exist, so this machine cannot sign`,
          `copy the CA's key from a backup or another machine: install -m 600 ca-key.pem ${path}`,
        )
      : finding.ok(`${path} does not exist; the backend generates a CA`);
  }
  if (recorded && authorityIdOf(key) !== recorded.id) {
    return finding.fail(
      `${path} (${BLOCK}.keyFile) is the key of another CA than the one in the database`,
      `restore the key of CA ${recorded.id.slice(
        0,
        16,
      )}… from a backup to ${path}`,
    );
  }
  if (!chain) {
    return finding.ok(`${path}; the database has no CA to compare`);
  }
  try {
    createSigningAuthority({ chain, privateKey: key });
    return finding.ok(`${path} belongs to the CA certificate`);
  } catch (error) {
    return finding.fail(
      `${path} (${BLOCK}.keyFile) cannot sign with the CA certificate: ${
        toError(error).message
      }`,
      config.origin.kind === 'provided'
        ? `set ${BLOCK}.chainFile to the certificate of this key, then those of its issuers, in PEM`
        : `restore the key of the CA from a backup to ${path}`,
    );
  }
}

function checkCertificate({ chain }: State): DoctorFinding {
  if (!chain) {
    return finding.skip('There is no CA certificate to read yet');
  }
  const { subject, validTo } = new X509Certificate(chain[0]);
  const name = subject.split('\n').join(', ');
  const end = Date.parse(validTo);
  const until = new Date(end).toISOString().slice(0, 10);
  const renew = `renew the CA certificate with the same key and set ${BLOCK}.chainFile to it`;
  if (end < Date.now()) {
    return finding.fail(
      `The CA certificate of ${name} expired on ${until}`,
      renew,
    );
  }
  return end < Date.now() + EXPIRY_WARNING_MS
    ? finding.warn(`The CA certificate of ${name} expires on ${until}`, renew)
    : finding.ok(`${name}, until ${until}`);
}

/** Certificates contain the address, and clients read it without credentials. */
async function checkCrlAddress({ origin }: URL): Promise<DoctorFinding> {
  const url = `${origin}/api/directory/ca/crl`;
  try {
    const { status } = await fetch(url, {
      redirect: 'manual',
      signal: AbortSignal.timeout(CRL_TIMEOUT_MS),
    });
    return status === 200
      ? finding.ok(url)
      : finding.warn(
          `${url}, the address of the CRL in certificates, returns ${status}`,
          'start the portal with the embedded CA; a proxy in front of it must pass /api/directory/ca/crl without credentials',
        );
  } catch {
    return finding.skip(
      `${url} does not respond; start the portal to check it`,
    );
  }
}
