import type {
  AuditorService,
  BackstageCredentials,
  PermissionsService,
} from '@backstage/backend-plugin-api';
import { assertError, NotAllowedError, NotFoundError } from '@backstage/errors';
import { AuthorizeResult } from '@backstage/plugin-permission-common';
import { directoryCertificateRevokePermission } from '@directory-gateway/backstage-plugin-directory-common';
import type {
  RevocableReason,
  RevocationOrder,
} from '@directory-gateway/backstage-plugin-directory-node';
import type { Revoker } from './Revoker';

/** What a {@link RevocationService} is made of. */
export interface RevocationServiceOptions {
  readonly revoker: Revoker;
  readonly permissions: PermissionsService;
  readonly auditor: AuditorService;
}

/** Revokes certificates for those who may, and puts every attempt on record. */
export class RevocationService {
  readonly #options: RevocationServiceOptions;

  constructor(options: RevocationServiceOptions) {
    this.#options = options;
  }

  /**
   * Revokes a certificate for good. One that is revoked already stays as it is.
   *
   * @returns since when it is revoked
   * @throws NotAllowedError without `directory.certificate.revoke`.
   * @throws NotFoundError when this authority never issued it.
   */
  async revoke(
    request: {
      readonly serialNumber: bigint;
      readonly reason: RevocableReason;
    },
    options: { readonly credentials: BackstageCredentials },
  ): Promise<{ readonly revokedAt: Date }> {
    const { serialNumber, reason } = request;
    const revokedBy = nameOf(options.credentials);
    const event = await this.#options.auditor.createEvent({
      eventId: 'certificate-revoke',
      severityLevel: 'medium',
      meta: { serialNumber: String(serialNumber), reason, revokedBy },
    });
    try {
      await this.#requirePermission(options.credentials);
      const revokedAt = await this.#record({ ...request, revokedBy });
      await event.success({ meta: { revokedAt: revokedAt.toISOString() } });
      return { revokedAt };
    } catch (error) {
      assertError(error);
      await event.fail({ error });
      throw error;
    }
  }

  async #requirePermission(credentials: BackstageCredentials): Promise<void> {
    const [decision] = await this.#options.permissions.authorize(
      [{ permission: directoryCertificateRevokePermission }],
      { credentials },
    );
    if (decision.result !== AuthorizeResult.ALLOW) {
      throw new NotAllowedError('You may not revoke certificates');
    }
  }

  async #record(order: RevocationOrder): Promise<Date> {
    const revocation = await this.#options.revoker.revoke(order);
    if (!revocation) {
      throw new NotFoundError('Certificate not found');
    }
    return revocation.revokedAt;
  }
}

/** Who revokes, for records. */
function nameOf({ principal }: BackstageCredentials): string {
  const { type, userEntityRef, subject } = principal as {
    type?: string;
    userEntityRef?: string;
    subject?: string;
  };
  return userEntityRef ?? subject ?? type ?? 'unknown';
}
