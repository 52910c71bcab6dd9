import type { DiscoveryService } from '@backstage/backend-plugin-api';
import type {
  NotificationSendOptions,
  NotificationService,
} from '@backstage/plugin-notifications-node';

/**
 * The portal's notifications plugin, which may not be installed: the service
 * that sends is there in any case, and then fails with nothing but a sentence.
 */
export class PortalNotifications {
  readonly #service: NotificationService;
  readonly #discovery: DiscoveryService;

  constructor(options: {
    readonly service: NotificationService;
    readonly discovery: DiscoveryService;
  }) {
    this.#service = options.service;
    this.#discovery = options.discovery;
  }

  /**
   * Whether the plugin answers: with a refusal, for nobody asks, while the
   * portal itself answers 404 for a plugin that it does not have.
   */
  async areInstalled(): Promise<boolean> {
    const baseUrl = await this.#discovery.getBaseUrl('notifications');
    const response = await fetch(baseUrl, { method: 'HEAD' });
    return response.status !== 404;
  }

  /** @throws Error when the message was not taken, or nobody said so. */
  async send(message: NotificationSendOptions): Promise<void> {
    await this.#service.send(message);
  }
}
