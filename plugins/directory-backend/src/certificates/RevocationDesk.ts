import type {
  AuditorService,
  AuditorServiceEvent,
} from '@backstage/backend-plugin-api';
import { assertError } from '@backstage/errors';
import type {
  CertificateAuthority,
  IssuedCertificate,
  RevocableReason,
} from '@directory-gateway/backstage-plugin-directory-node';
import type { Caller } from '../directory/Caller';
import { nameOf } from './judgeSigning';

/**
 * Where certificates are revoked for those who may: the router has asked. Puts
 * every attempt on record, as the portal's action `revoke-certificate` does.
 */
export class RevocationDesk {
  readonly #authority: Required<Pick<CertificateAuthority, 'revoke'>>;
  readonly #auditor: AuditorService;

  constructor(options: {
    readonly authority: Required<Pick<CertificateAuthority, 'revoke'>>;
    readonly auditor: AuditorService;
  }) {
    this.#authority = options.authority;
    this.#auditor = options.auditor;
  }

  /**
   * Revokes a certificate for good. One that is revoked already stays as it is.
   *
   * @returns the certificate as it is then, `undefined` when there is none
   * @throws what {@link CertificateAuthority.revoke} throws.
   */
  async revoke(
    order: { readonly serialNumber: bigint; readonly reason: RevocableReason },
    caller: Caller,
  ): Promise<IssuedCertificate | undefined> {
    const { serialNumber, reason } = order;
    const revokedBy = revokerOf(caller);
    const event = await this.#record({
      ...{ serialNumber: String(serialNumber), reason, revokedBy },
    });
    try {
      const revoked = await this.#authority.revoke({ ...order, revokedBy });
      if (revoked) {
        await event.success();
      } else {
        await event.fail({ error: new Error('Certificate not found') });
      }
      return revoked;
    } catch (error) {
      assertError(error);
      await event.fail({ error });
      throw error;
    }
  }

  /** Puts on record that somebody may not revoke. */
  async recordRefusal(caller: Caller, error: Error): Promise<void> {
    const event = await this.#record({ revokedBy: revokerOf(caller) });
    // The auditor spreads an error over the event, whose status it would hide.
    const { name, message } = error;
    await event.fail({ error: Object.assign(new Error(message), { name }) });
  }

  #record(meta: Record<string, string>): Promise<AuditorServiceEvent> {
    return this.#auditor.createEvent({
      eventId: 'certificate-revoke',
      severityLevel: 'medium',
      meta,
    });
  }
}

/** As the action has it: people of the portal by their entity. */
function revokerOf(caller: Caller): string {
  return caller.kind === 'portalUser'
    ? caller.credentials.principal.userEntityRef
    : nameOf(caller);
}
