import type { AuditorService } from '@backstage/backend-plugin-api';
import type { JsonObject } from '@backstage/types';

/** Keeps what is audited. */
export class AuditTrail implements AuditorService {
  readonly events = new Array<JsonObject>();

  async createEvent({ eventId, meta }: { eventId: string; meta?: JsonObject }) {
    const end = async (outcome: JsonObject) => {
      this.events.push({ eventId, ...meta, ...outcome });
    };
    return {
      success: (options?: { meta?: JsonObject }) =>
        end({ outcome: 'success', ...options?.meta }),
      fail: ({ error }: { error: Error }) =>
        end({ outcome: 'failure', error: error.name }),
    };
  }
}
