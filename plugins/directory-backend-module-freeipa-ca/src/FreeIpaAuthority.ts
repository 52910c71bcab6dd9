import { X509Certificate } from 'node:crypto';
import type { LoggerService } from '@backstage/backend-plugin-api';
import {
  AuthorityProtocolError,
  AuthorityRefusalError,
  AuthorityUnavailableError,
  type CertificateAuthority,
  type ExpiringCertificate,
  type ExpiringQuery,
  type IssuedCertificate,
  type LookupOptions,
  type RevocationRequest,
  type SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import { BulkheadRejectedError, bulkhead } from 'cockatiel';
import { AuthorityMetrics } from './AuthorityMetrics';
import { type Clock, systemClock } from './Clock';
import {
  certFindExpiring,
  certRequest,
  certRevoke,
  certShow,
  certprofileShow,
} from './commands';
import {
  decodeCertificate,
  decodeExpiring,
  serialNumberOf,
} from './decodeCertificate';
import type { FreeIpaConfig, FreeIpaLoginConfig } from './FreeIpaConfig';
import { HttpsClient } from './rpc/HttpsClient';
import { IssuedSearch, PendingRequests, keyOf } from './PendingRequests';
import { judgeReading, judgeSigning } from './classifyError';
import { FreeIpaServer, type Login } from './rpc/FreeIpaServer';
import { FreeIpaServers } from './rpc/FreeIpaServers';
import { type RpcCommand, type RpcRecord, isRpcRecord } from './rpc/RpcCommand';
import { RpcError } from './rpc/errors';
import { KerberosLogin } from './login/KerberosLogin';
import { PasswordLogin } from './login/PasswordLogin';

/** Lets work on the same thing happen one after the other. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Waits for all work on `key` that came before, however it ends. */
  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const turn = before.then(work, work);
    this.#last.set(key, turn);
    try {
      return await turn;
    } finally {
      if (this.#last.get(key) === turn) {
        this.#last.delete(key);
      }
    }
  }
}

/** Maximum number of lookups by serial number that run at the same time. */
const MAX_LOOKUPS = 8;

/** Maximum number of lookups that wait for another one to end. */
const MAX_QUEUED_LOOKUPS = 32;

/**
 * Has certificates signed by FreeIPA, over the RPC interface that its own tools
 * use (`cert_request`, `cert_show`, `cert_revoke`).
 *
 * FreeIPA checks a request by its own rules, but the gateway's account may ask
 * for anybody: who may ask for whom is decided before.
 */
export class FreeIpaAuthority implements CertificateAuthority {
  readonly #servers: FreeIpaServers;
  readonly #search: IssuedSearch;
  readonly #lost: PendingRequests;
  readonly #cacn: string;
  readonly #searchMs: number;
  readonly #logger: LoggerService;
  readonly #clock: Clock;
  readonly #metrics = new AuthorityMetrics();
  readonly #turns = new Turns();
  /** Every caller may look up certificates, and each lookup is a connection. */
  readonly #lookups = bulkhead(MAX_LOOKUPS, MAX_QUEUED_LOOKUPS);

  /** @throws Error when the process already gets tickets with another keytab. */
  static create(options: {
    readonly config: FreeIpaConfig;
    readonly logger: LoggerService;
    /** Default: the system's. */
    readonly clock?: Clock;
  }): FreeIpaAuthority {
    const { config, logger, clock = systemClock } = options;
    const https = new HttpsClient({ ...config, clock });
    const login = createLogin(config.login);
    const servers = new FreeIpaServers({
      servers: config.servers.map(
        origin => new FreeIpaServer({ origin, https, login }),
      ),
      logger,
      clock,
    });
    return new FreeIpaAuthority({ servers, config, logger, clock });
  }

  private constructor(options: {
    readonly servers: FreeIpaServers;
    readonly config: FreeIpaConfig;
    readonly logger: LoggerService;
    readonly clock: Clock;
  }) {
    const { servers, config, logger, clock } = options;
    this.#servers = servers;
    this.#cacn = config.cacn;
    this.#searchMs = config.lostResponseSearchMs;
    this.#logger = logger;
    this.#clock = clock;
    this.#search = new IssuedSearch({ servers, cacn: config.cacn });
    this.#lost = new PendingRequests({
      search: this.#search,
      searchMs: config.lostResponseSearchMs,
      logger,
      clock,
    });
  }

  /**
   * {@inheritDoc CertificateAuthority.sign}
   *
   * A request whose answer is lost is not repeated: its certificate is looked
   * for instead, and before the next request with the same key, too. One key's
   * requests wait for each other, so that a certificate that is found can only
   * be the lost one.
   */
  async sign(request: SigningRequest): Promise<IssuedCertificate> {
    const key = request.publicKey.toString('base64');
    const work = () => this.#turns.take(key, () => this.#sign(request));
    return await this.#metrics.measure('sign', work);
  }

  /**
   * {@inheritDoc CertificateAuthority.get}
   *
   * @throws AuthorityUnavailableError also when 8 lookups run and 32 wait,
   *   except for revocations.
   */
  async get(
    serialNumber: bigint,
    options: LookupOptions = {},
  ): Promise<IssuedCertificate | undefined> {
    return await this.#metrics.measure('get', async () => {
      if (options.forRevocation) {
        return await this.#get(serialNumber);
      }
      try {
        return await this.#lookups.execute(() => this.#get(serialNumber));
      } catch (error) {
        throw error instanceof BulkheadRejectedError
          ? new AuthorityUnavailableError('Too many lookups are waiting', error)
          : error;
      }
    });
  }

  /**
   * {@inheritDoc CertificateAuthority.revoke}
   *
   * What FreeIPA shows afterwards decides, not its answer, which may be lost,
   * or say that another was faster.
   */
  async revoke(order: RevocationRequest): Promise<IssuedCertificate | undefined> {
    return await this.#metrics.measure('revoke', async () => {
      const before = await this.#get(order.serialNumber);
      if (!before || before.revocation) {
        return before;
      }
      const failure = await this.#tryToRevoke(order);
      const after = await this.#get(order.serialNumber);
      if (!after?.revocation) {
        throw (
          failure ??
          new AuthorityProtocolError(
            `FreeIPA said that ${order.serialNumber} is revoked, and does not show it`,
          )
        );
      }
      return after;
    });
  }

  /** {@inheritDoc CertificateAuthority.listExpiring} */
  async listExpiring(query: ExpiringQuery): Promise<readonly ExpiringCertificate[]> {
    const answer = await this.#metrics.measure('find', () =>
      this.#find(certFindExpiring(query)),
    );
    const { from, before } = query;
    return decodeExpiring(answer, { cacn: this.#cacn }).filter(
      ({ notAfter }) => notAfter >= from && (!before || notAfter < before),
    );
  }

  /** The error that it ended with, if any. */
  async #tryToRevoke(order: RevocationRequest): Promise<Error | undefined> {
    try {
      await this.#servers.runOnce(certRevoke(order, this.#cacn));
      return undefined;
    } catch (error) {
      return judgeReading(error);
    }
  }

  async #get(serialNumber: bigint): Promise<IssuedCertificate | undefined> {
    const answer = await this.#show(serialNumber);
    if (!answer) {
      return undefined;
    }
    const found = decodeCertificate(certificateIn(answer));
    const { certificate } = found;
    if (serialNumberOf(new X509Certificate(certificate)) !== serialNumber) {
      throw new AuthorityProtocolError(
        `FreeIPA answered with another certificate than ${serialNumber}`,
      );
    }
    return found;
  }

  async #sign(request: SigningRequest): Promise<IssuedCertificate> {
    const issued =
      (await this.#lost.recall(request)) ?? (await this.#request(request));
    this.#search.answered(issued);
    return issued;
  }

  async #request(request: SigningRequest): Promise<IssuedCertificate> {
    const since = new Date();
    try {
      const command = certRequest(request, this.#cacn);
      const answer = await this.#servers.runOnce(command);
      return decodeIssued(answer, request);
    } catch (error) {
      const failure = judgeSigning(error);
      if (failure.state === 'settled') {
        throw (await this.#isProfileMissing(error, request))
          ? this.#missingProfile(request)
          : failure.error;
      }
      return await this.#lost.find({ request, since, failure });
    }
  }

  /**
   * Whether `cert_request` failed because FreeIPA does not have the profile. It
   * checks the CA ACLs first, which do not permit an unknown profile either.
   */
  async #isProfileMissing(
    error: unknown,
    { profile }: SigningRequest,
  ): Promise<boolean> {
    if (!(error instanceof RpcError)) {
      return false;
    }
    if (error.code !== 2100 || !/\bprofile\b/i.test(error.text)) {
      return isProfileNotFound(error);
    }
    try {
      await this.#servers.read(certprofileShow(profile), {
        first: error.server,
        signal: this.#clock.timeout(this.#searchMs),
      });
      return false;
    } catch (failure) {
      return failure instanceof RpcError && isProfileNotFound(failure);
    }
  }

  #missingProfile({ profile }: SigningRequest): AuthorityRefusalError {
    this.#logger.error(
      `directory.certificates.profiles lists "${profile}", which is not a certificate profile of FreeIPA: correct the name, or import the profile with "ipa certprofile-import"`,
    );
    return new AuthorityRefusalError(`There is no profile "${profile}".`);
  }

  async #find(command: RpcCommand): Promise<RpcRecord> {
    try {
      return await this.#servers.read(command);
    } catch (error) {
      throw (
        judgeReading(error) ??
        new AuthorityProtocolError('FreeIPA did not search', error)
      );
    }
  }

  async #show(serialNumber: bigint): Promise<RpcRecord | undefined> {
    try {
      return await this.#servers.read(certShow(serialNumber, this.#cacn));
    } catch (error) {
      const failure = judgeReading(error);
      if (failure) {
        throw failure;
      }
      return undefined;
    }
  }
}

function decodeIssued(
  answer: RpcRecord,
  request: SigningRequest,
): IssuedCertificate {
  const issued = decodeCertificate(certificateIn(answer));
  const { publicKey } = new X509Certificate(issued.certificate);
  if (!publicKey.equals(keyOf(request))) {
    throw new AuthorityProtocolError(
      'FreeIPA answered with a certificate for another key',
    );
  }
  return issued;
}

/** NotFound, of a profile rather than a principal or a CA. */
function isProfileNotFound({ code, text }: RpcError): boolean {
  return code === 4001 && /Certificate Profile not found/i.test(text);
}

/** A command's result has the entry in a `result` of its own. */
function certificateIn({ result }: RpcRecord): RpcRecord {
  if (!isRpcRecord(result)) {
    throw new AuthorityProtocolError('FreeIPA answered without a certificate');
  }
  return result;
}

/**
 * The login that is configured.
 *
 * @throws Error when the process already gets tickets with another keytab.
 */
export function createLogin(config: FreeIpaLoginConfig): Login {
  return config.kind === 'kerberos'
    ? KerberosLogin.create(config)
    : new PasswordLogin(config);
}
