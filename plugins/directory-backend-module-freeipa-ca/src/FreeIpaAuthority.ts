import {
  AuthorityProtocolError,
  AuthorityUnavailableError,
  type CertificateAuthority,
  type IssuedCertificate,
  type LookupOptions,
  type Revocation,
  type RevocationRequest,
  type SignedCertificate,
  type SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import { REVOCATION_REASONS } from '@directory-gateway/x509';
import { BulkheadRejectedError, bulkhead } from 'cockatiel';
import { systemClock } from './Clock';
import { decodeCertificate, describe } from './decodeCertificate';
import { FreeIpaError, MissingPermissionError, readFailure } from './errors';
import {
  type FreeIpaOptions,
  FreeIpaServers,
  untilAborted,
} from './FreeIpaServers';
import type { RpcCommand, RpcRecord } from './rpc';
import { Signer } from './Signer';

/** Maximum number of concurrent lookups by serial number. */
const MAX_LOOKUPS = 8;

/** Maximum number of lookups that wait for another lookup to end. */
const MAX_QUEUED_LOOKUPS = 32;

const ON_HOLD = REVOCATION_REASONS.certificateHold;

const isOnHold = (state: Revocation | undefined) => state?.reason === ON_HOLD;

/** Whether a certificate is revoked permanently. */
const isPermanent = (state: Revocation | undefined) =>
  state !== undefined && !isOnHold(state);

/** Result of a command that changes a certificate. */
interface ChangeResult {
  readonly failure?: Error;
  /** Whether the certificate is already revoked or on hold. */
  readonly isRefused?: boolean;
  /** Whether the command may still take effect. */
  readonly isPending?: boolean;
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
  readonly cacn: string;
  /** Dogtag accepts neither Ed25519 keys nor RSASSA-PSS signatures. */
  readonly keyTypes: CertificateAuthority['keyTypes'] = new Set(['rsa', 'ec']);
  readonly choosesSerialNumbers = true;

  readonly #logger: FreeIpaOptions['logger'];
  readonly #servers: FreeIpaServers;
  readonly #signer: Signer;
  /**
   * Limits lookups: every caller can look up certificates, and each lookup
   * opens a connection.
   */
  readonly #lookups = bulkhead(MAX_LOOKUPS, MAX_QUEUED_LOOKUPS);

  /**
   * @param options - `clock`: default: the system clock
   * @throws Error when the process already uses another client keytab.
   */
  constructor(
    options: Omit<FreeIpaOptions, 'clock'> & Partial<FreeIpaOptions>,
  ) {
    const complete = { clock: systemClock, ...options };
    const servers = new FreeIpaServers(complete);
    this.cacn = options.config.cacn;
    this.#logger = options.logger;
    this.#servers = servers;
    this.#signer = new Signer({ ...complete, servers });
  }

  /** {@inheritDoc CertificateAuthority.sign} */
  async sign(request: SigningRequest): Promise<SignedCertificate> {
    return await this.#report(() => this.#signer.sign(request));
  }

  /**
   * {@inheritDoc CertificateAuthority.get}
   *
   * @throws AuthorityUnavailableError also when 8 lookups are running and 32
   *   are waiting, except for revocations.
   */
  async get(
    serialNumber: bigint,
    { forRevocation, signal }: LookupOptions = {},
  ): Promise<IssuedCertificate | undefined> {
    return await this.#report(async () => {
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

  /** {@inheritDoc CertificateAuthority.revoke} */
  async revoke(request: RevocationRequest): Promise<Revocation | undefined> {
    const { serialNumber } = request;
    const reason = REVOCATION_REASONS[request.reason];
    return await this.#report(() =>
      this.#change(serialNumber, isPermanent, async () => {
        const result = await this.#revoke(serialNumber, reason);
        // Dogtag does not change the reason of a certificate on hold.
        return (result.isRefused || !result.failure) &&
          isOnHold(await this.#stateOf(serialNumber))
          ? await this.#revokeAfterHold(serialNumber, reason)
          : result;
      }),
    );
  }

  /** {@inheritDoc CertificateAuthority.hold} */
  async hold(serialNumber: bigint): Promise<Revocation | undefined> {
    return await this.#report(() =>
      this.#change(
        serialNumber,
        state => state !== undefined,
        () => this.#revoke(serialNumber, ON_HOLD),
      ),
    );
  }

  /** {@inheritDoc CertificateAuthority.release} */
  async release(serialNumber: bigint): Promise<Revocation | undefined> {
    return await this.#report(() =>
      this.#change(
        serialNumber,
        state => !isOnHold(state),
        () => this.#try('cert_remove_hold', serialNumber),
      ),
    );
  }

  /**
   * Changes the state of a certificate unless it already is as required.
   *
   * @returns the state in FreeIPA afterwards: the response may be lost, or
   *   report that the certificate is already revoked
   */
  async #change(
    serialNumber: bigint,
    isDone: (state: Revocation | undefined) => boolean,
    change: () => Promise<ChangeResult>,
  ): Promise<Revocation | undefined> {
    const before = await this.#get(serialNumber);
    if (!before || isDone(before.revocation)) {
      return before?.revocation;
    }
    const { failure } = await change();
    const after = await this.#stateOf(serialNumber);
    if (!isDone(after)) {
      throw (
        failure ??
        new AuthorityProtocolError(
          `FreeIPA reported that certificate ${serialNumber} was changed, but does not show it`,
        )
      );
    }
    return after;
  }

  /** Ends a hold and revokes; restores the hold if the revocation fails. */
  async #revokeAfterHold(
    serialNumber: bigint,
    reason: number,
  ): Promise<ChangeResult> {
    const ended = await this.#try('cert_remove_hold', serialNumber);
    const revoked = await this.#revoke(serialNumber, reason);
    if (!revoked.failure) {
      return revoked;
    }
    const restored = await this.#revoke(serialNumber, ON_HOLD);
    if (ended.isPending || (restored.failure && !restored.isRefused)) {
      this.#logger.error(
        `Certificate ${serialNumber} may be valid: its hold may have ended, but the revocation failed. Retry the revocation`,
      );
    }
    return { failure: ended.failure ?? revoked.failure };
  }

  /** Revokes a certificate, or puts it on hold. */
  async #revoke(serialNumber: bigint, reason: number): Promise<ChangeResult> {
    const options = { revocation_reason: reason };
    return await this.#try('cert_revoke', serialNumber, options);
  }

  async #try(
    method: string,
    serialNumber: bigint,
    options?: RpcRecord,
  ): Promise<ChangeResult> {
    const command = this.#command(method, serialNumber, options);
    try {
      await this.#servers.run(command, { once: true });
      return {};
    } catch (error) {
      const { fault, executed } = error as FreeIpaError;
      return {
        failure: readFailure(error),
        isRefused: fault === 'alreadyRevoked',
        isPending: executed === 'pending',
      };
    }
  }

  #command(
    method: string,
    serialNumber: bigint,
    options?: RpcRecord,
  ): RpcCommand {
    const args = [String(serialNumber)];
    return { method, args, options: { cacn: this.cacn, ...options } };
  }

  async #stateOf(serialNumber: bigint): Promise<Revocation | undefined> {
    return (await this.#get(serialNumber))?.revocation;
  }

  async #get(
    serialNumber: bigint,
    signal?: AbortSignal,
  ): Promise<IssuedCertificate | undefined> {
    const options = { all: true, chain: true, raw: false };
    const command = this.#command('cert_show', serialNumber, options);
    let response: RpcRecord;
    try {
      response = await this.#servers.run(command, { signal });
    } catch (error) {
      const failure = readFailure(error);
      if (failure) {
        throw failure;
      }
      return undefined;
    }
    const found = decodeCertificate(response.result);
    if (describe(found).serialNumber !== serialNumber) {
      throw new AuthorityProtocolError(
        `FreeIPA returned a certificate other than ${serialNumber}`,
      );
    }
    const { cacn } = this;
    return { ...found, cacn };
  }

  /** Logs which permission the account needs. */
  async #report<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof MissingPermissionError) {
        this.#logger.error(error.message);
      }
      throw error;
    }
  }
}
