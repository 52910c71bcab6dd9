import type { LoggerService } from '@backstage/backend-plugin-api';
import {
  AuthorityMetrics,
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
import { REVOCATION_REASONS } from '@directory-gateway/x509';
import { BulkheadRejectedError, bulkhead } from 'cockatiel';
import {
  classifyReadError,
  classifySigningError,
  isUserReadOnly,
  MissingPermissionError,
} from './classifyError';
import { type Clock, systemClock } from './rpc/Clock';
import {
  certFindExpiring,
  certRemoveHold,
  certRequest,
  certRevoke,
  certShow,
  certprofileShow,
  userShow,
} from './commands';
import {
  decodeCertificate,
  decodeExpiring,
  isKeyOf,
  serialNumberOf,
} from './decodeCertificate';
import type { FreeIpaConfig } from './FreeIpaConfig';
import { KerberosLogin } from './login/KerberosLogin';
import { PasswordLogin } from './login/PasswordLogin';
import { PendingRequests, untilAborted } from './PendingRequests';
import { isAlreadyRevoked, NoResultError, RpcError } from './rpc/errors';
import { FreeIpaServer, type Login } from './rpc/FreeIpaServer';
import { FreeIpaServers } from './rpc/FreeIpaServers';
import { HttpsClient } from './rpc/HttpsClient';
import { type RpcCommand, type RpcRecord, isRpcRecord } from './rpc/RpcCommand';

/** Reason code of a certificate on hold (RFC 5280 §5.3.1). */
const ON_HOLD = REVOCATION_REASONS.certificateHold;

/** Maximum number of concurrent lookups by serial number. */
const MAX_LOOKUPS = 8;

/** Maximum number of lookups that wait for another lookup to end. */
const MAX_QUEUED_LOOKUPS = 32;

/** Options of {@link FreeIpaAuthority.create}. */
export interface FreeIpaAuthorityOptions {
  readonly config: FreeIpaConfig;
  readonly logger: LoggerService;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

/** Runs work with the same key sequentially. */
class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const previous = this.#last.get(key) ?? Promise.resolve();
    const current = previous.then(work, work);
    this.#last.set(key, current);
    try {
      return await current;
    } finally {
      if (this.#last.get(key) === current) {
        this.#last.delete(key);
      }
    }
  }
}

/**
 * Signs certificates with FreeIPA, over the RPC interface of its own tools
 * (`cert_request`, `cert_show`, `cert_revoke`).
 *
 * FreeIPA checks requests against its own rules, but permits the gateway's
 * account to request certificates for any user: the gateway must evaluate its
 * policy first.
 */
export class FreeIpaAuthority implements CertificateAuthority {
  /** Dogtag accepts neither Ed25519 keys nor RSASSA-PSS signatures. */
  readonly requestSignatures: CertificateAuthority['requestSignatures'] =
    new Set(['rsa', 'ec']);

  readonly #options: FreeIpaAuthorityOptions & { readonly clock: Clock };
  readonly #servers: FreeIpaServers;
  readonly #pending: PendingRequests;
  readonly #metrics = new AuthorityMetrics('freeipa');
  readonly #mutex = new KeyedMutex();
  /**
   * Limits lookups: every caller can look up certificates, and each lookup
   * opens a connection.
   */
  readonly #lookups = bulkhead(MAX_LOOKUPS, MAX_QUEUED_LOOKUPS);

  /** @throws Error when the process already uses another client keytab. */
  static create(options: FreeIpaAuthorityOptions): FreeIpaAuthority {
    const { login } = options.config;
    return new FreeIpaAuthority(
      options,
      login.kind === 'kerberos'
        ? KerberosLogin.create(login)
        : new PasswordLogin(login),
    );
  }

  private constructor(options: FreeIpaAuthorityOptions, login: Login) {
    const { config, logger, clock = systemClock } = options;
    const https = new HttpsClient({ ...config, clock });
    this.#options = { config, logger, clock };
    this.#servers = new FreeIpaServers({
      servers: config.servers.map(
        origin => new FreeIpaServer({ origin, https, login }),
      ),
      logger,
      clock,
    });
    this.#pending = new PendingRequests({
      servers: this.#servers,
      cacn: config.cacn,
      searchMs: config.lostResponseSearchMs,
      logger,
      clock,
    });
  }

  /**
   * {@inheritDoc CertificateAuthority.sign}
   *
   * A request whose response is lost is not repeated. Instead, the CA searches
   * for its certificate, and searches again before the next request with the
   * same key. Requests with the same key run sequentially, so that a found
   * certificate can only be that of the lost response.
   */
  async sign(request: SigningRequest): Promise<IssuedCertificate> {
    const key = request.publicKey.toString('base64');
    return await this.#measure('sign', () =>
      this.#mutex.run(key, async () => {
        const issued =
          (await this.#pending.recover(request)) ??
          (await this.#request(request));
        this.#pending.recordResponse(issued);
        return issued;
      }),
    );
  }

  /**
   * {@inheritDoc CertificateAuthority.get}
   *
   * @throws AuthorityUnavailableError also when 8 lookups are running and 32
   *   are waiting, except for revocations.
   */
  async get(
    serialNumber: bigint,
    options: LookupOptions = {},
  ): Promise<IssuedCertificate | undefined> {
    const { forRevocation, signal } = options;
    return await this.#measure('get', async () => {
      if (forRevocation) {
        return await this.#get(serialNumber);
      }
      try {
        const lookup = this.#lookups.execute(
          () => this.#get(serialNumber, signal),
          signal,
        );
        return await (signal ? untilAborted(lookup, signal) : lookup);
      } catch (error) {
        signal?.throwIfAborted();
        throw error instanceof BulkheadRejectedError
          ? new AuthorityUnavailableError('Too many lookups are waiting', error)
          : error;
      }
    });
  }

  /**
   * {@inheritDoc CertificateAuthority.revoke}
   *
   * Returns the state in FreeIPA afterwards: the response may be lost, or
   * report that the certificate is already revoked. Dogtag does not change the
   * reason of a certificate on hold, so its hold is ended first.
   */
  async revoke(
    request: RevocationRequest,
  ): Promise<IssuedCertificate | undefined> {
    const { serialNumber } = request;
    const { config } = this.#options;
    return await this.#measure('revoke', async () => {
      const before = await this.#get(serialNumber);
      if (!before || isRevoked(before)) {
        return before;
      }
      const revocation = certRevoke(request, config.cacn);
      const { refused, failure } = await this.#try(revocation);
      let after = await this.#get(serialNumber);
      if (after?.revocation?.reason === ON_HOLD && (refused || !failure)) {
        after = await this.#revokeAfterHold(request);
      }
      if (!after || !isRevoked(after)) {
        throw (
          failure ??
          new AuthorityProtocolError(
            `FreeIPA reported that certificate ${serialNumber} is revoked, but does not show it`,
          )
        );
      }
      return after;
    });
  }

  /** Ends a hold and revokes; restores the hold if the revocation fails. */
  async #revokeAfterHold(
    request: RevocationRequest,
  ): Promise<IssuedCertificate | undefined> {
    const { config, logger } = this.#options;
    const { serialNumber } = request;
    const { cacn } = config;
    const ended = await this.#try(certRemoveHold(serialNumber, cacn));
    const revoked = await this.#try(certRevoke(request, cacn));
    if (!revoked.failure) {
      return await this.#get(serialNumber);
    }
    const after = await this.#get(serialNumber).catch(() => undefined);
    if (after && isRevoked(after)) {
      return after;
    }
    const isOnHold =
      after?.revocation?.reason === ON_HOLD ||
      (await this.#restoreHold(serialNumber));
    if (!isOnHold || ended.isPending) {
      logger.error(
        isOnHold
          ? `Certificate ${serialNumber} may become valid: FreeIPA has not confirmed whether its hold was ended. Retry the revocation`
          : `Certificate ${serialNumber} may be valid: its hold was ended, but the revocation failed. Retry the revocation`,
      );
    }
    throw ended.failure ?? revoked.failure;
  }

  /** Returns whether the certificate is on hold afterwards. */
  async #restoreHold(serialNumber: bigint): Promise<boolean> {
    const hold = { serialNumber, reason: 'certificateHold' } as const;
    const restored = await this.#try(
      certRevoke(hold, this.#options.config.cacn),
    );
    return !restored.failure || restored.refused === true;
  }

  /** {@inheritDoc CertificateAuthority.listExpiring} */
  async listExpiring(
    query: ExpiringQuery,
  ): Promise<readonly ExpiringCertificate[]> {
    const { from, before } = query;
    const response = await this.#measure('find', async () => {
      try {
        return await this.#servers.read(certFindExpiring(query));
      } catch (error) {
        throw (
          classifyReadError(error) ??
          new AuthorityProtocolError('FreeIPA cannot search', error)
        );
      }
    });
    return decodeExpiring(response, this.#options.config).filter(
      ({ notAfter }) => notAfter >= from && (!before || notAfter < before),
    );
  }

  /** Measures a request, and logs which permission the account needs. */
  async #measure<T>(
    operation: Parameters<AuthorityMetrics['measure']>[0],
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      return await this.#metrics.measure(operation, work);
    } catch (error) {
      if (error instanceof MissingPermissionError) {
        this.#options.logger.error(error.message);
      }
      throw error;
    }
  }

  /**
   * Runs a command that changes a certificate. `refused`: the certificate is
   * already revoked or on hold; `isPending`: the command may still take effect.
   */
  async #try(command: RpcCommand): Promise<{
    readonly failure?: Error;
    readonly refused?: boolean;
    readonly isPending?: boolean;
  }> {
    try {
      await this.#servers.runOnce(command);
      return {};
    } catch (error) {
      return {
        failure: classifyReadError(error),
        refused: error instanceof RpcError && isAlreadyRevoked(error),
        isPending: error instanceof NoResultError && error.executed !== 'no',
      };
    }
  }

  async #get(
    serialNumber: bigint,
    signal?: AbortSignal,
  ): Promise<IssuedCertificate | undefined> {
    let response: RpcRecord;
    try {
      response = await this.#servers.read(
        certShow(serialNumber, this.#options.config.cacn),
        { signal },
      );
    } catch (error) {
      const failure = classifyReadError(error);
      if (failure) {
        throw failure;
      }
      return undefined;
    }
    const found = decodeCertificate(certificateIn(response));
    if (serialNumberOf(found) !== serialNumber) {
      throw new AuthorityProtocolError(
        `FreeIPA returned a certificate other than ${serialNumber}`,
      );
    }
    return found;
  }

  async #request(request: SigningRequest): Promise<IssuedCertificate> {
    const since = new Date();
    try {
      const command = certRequest(request, this.#options.config.cacn);
      const response = await this.#servers.runOnce(command);
      const issued = decodeCertificate(certificateIn(response));
      if (!isKeyOf(issued, request)) {
        throw new AuthorityProtocolError(
          'FreeIPA returned a certificate for another key',
        );
      }
      return issued;
    } catch (error) {
      const failure = classifySigningError(error);
      if (failure.state === 'unknown') {
        return await this.#pending.find({ request, since, failure });
      }
      throw (await this.#explain(error, request)) ?? failure.error;
    }
  }

  /** Returns a better error than that of `cert_request`, if there is one. */
  async #explain(
    error: unknown,
    request: SigningRequest,
  ): Promise<Error | undefined> {
    if (await this.#isProfileMissing(error, request)) {
      return this.#missingProfile(request);
    }
    if (!(error instanceof RpcError) || !isUserReadOnly(error)) {
      return undefined;
    }
    const { username } = request;
    return (await this.#isAdministrator(username, error))
      ? new AuthorityRefusalError(
          'FreeIPA does not let the gateway issue certificates to members of the group "admins". An administrator can issue one with "ipa cert-request".',
          { kind: 'forbidden' },
        )
      : new MissingPermissionError('System: Manage User Certificates', error);
  }

  /** Whether a user is a member of `admins`, whose entries are protected. */
  async #isAdministrator(
    username: string,
    { server }: RpcError,
  ): Promise<boolean> {
    const { clock, config } = this.#options;
    let result: RpcRecord[string] | undefined;
    try {
      ({ result } = await this.#servers.read(userShow(username), {
        first: server,
        signal: clock.timeout(config.lostResponseSearchMs),
      }));
    } catch (error) {
      throw (
        classifyReadError(error) ??
        new AuthorityProtocolError('FreeIPA did not return the user', error)
      );
    }
    return (
      isRpcRecord(result) &&
      [result.memberof_group, result.memberofindirect_group].some(
        groups => Array.isArray(groups) && groups.includes('admins'),
      )
    );
  }

  /**
   * Whether `cert_request` failed because FreeIPA does not have the profile.
   * FreeIPA checks the CA ACLs first, and these do not permit an unknown
   * profile either.
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
    const { clock, config } = this.#options;
    try {
      await this.#servers.read(certprofileShow(profile), {
        first: error.server,
        signal: clock.timeout(config.lostResponseSearchMs),
      });
      return false;
    } catch (failure) {
      return failure instanceof RpcError && isProfileNotFound(failure);
    }
  }

  #missingProfile({ profile }: SigningRequest): AuthorityRefusalError {
    this.#options.logger.error(
      `directory.certificates.profiles lists "${profile}", which is not a FreeIPA certificate profile: correct the name, or import the profile with "ipa certprofile-import"`,
    );
    return new AuthorityRefusalError(`There is no profile "${profile}".`);
  }
}

/** Whether a certificate is revoked permanently. */
function isRevoked({ revocation }: IssuedCertificate): boolean {
  return revocation !== undefined && revocation.reason !== ON_HOLD;
}

/** Whether an error is NotFound for a profile, not for a principal or a CA. */
function isProfileNotFound({ code, text }: RpcError): boolean {
  return code === 4001 && /Certificate Profile not found/i.test(text);
}

/** Returns the entry in the result of a command. */
function certificateIn({ result }: RpcRecord): RpcRecord {
  if (!isRpcRecord(result)) {
    throw new AuthorityProtocolError('FreeIPA did not return a certificate');
  }
  return result;
}
