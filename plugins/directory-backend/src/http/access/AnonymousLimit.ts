import { LRUCache } from 'lru-cache';
import { isIPv6 } from 'node:net';
import { ApiError } from '../response/apiErrors';

/** Maximum number of concurrent requests. */
const MAX_CONCURRENT = 8;

/** Maximum number of failed requests per address and interval. */
const MAX_FAILURES = 30;
const INTERVAL_MS = 60_000;

/**
 * Limits the load from clients without credentials on this process: concurrent
 * requests from all clients, and failed requests from each address. Successful
 * requests do not count, so that many clients behind one address can renew
 * certificates.
 */
export class AnonymousLimit {
  readonly #failures = new LRUCache<string, number>({
    max: 10_000,
    ttl: INTERVAL_MS,
  });
  #running = 0;

  /**
   * Runs the work of a request.
   *
   * @throws ApiError 429 when there are too many requests.
   */
  async run<T>(ip: string | undefined, work: () => Promise<T>): Promise<T> {
    const network = networkOf(ip ?? '');
    const failures = this.#failures.get(network) ?? 0;
    if (failures >= MAX_FAILURES || this.#running >= MAX_CONCURRENT) {
      const seconds = failures >= MAX_FAILURES ? INTERVAL_MS / 1000 : 1;
      throw new ApiError(
        429,
        { message: 'Too many requests. Try again later.' },
        { 'Retry-After': String(seconds) },
      );
    }
    this.#running++;
    // Counted in advance, so that concurrent failures cannot exceed the limit.
    this.#count(network, 1);
    try {
      const result = await work();
      this.#count(network, -1);
      return result;
    } finally {
      this.#running--;
    }
  }

  #count(network: string, change: number): void {
    const failures = (this.#failures.get(network) ?? 0) + change;
    this.#failures.set(network, Math.max(0, failures), {
      // The interval begins with the first failure.
      ttl: this.#failures.getRemainingTTL(network) || INTERVAL_MS,
    });
  }
}

/** Returns the /64 network of an IPv6 address: one client may own all of it. */
function networkOf(ip: string): string {
  const [address] = ip.split('%');
  if (!isIPv6(address)) {
    return address;
  }
  // Normalized: lower case, no leading zeros, no dotted-decimal part.
  const { hostname } = new URL(`http://[${address}]`);
  const [start, end] = hostname
    .slice(1, -1)
    .split('::')
    .map(part => (part ? part.split(':') : []));
  const groups = end
    ? [...start, ...Array(8 - start.length - end.length).fill('0'), ...end]
    : start;
  if (groups.slice(0, 6).join(':') !== '0:0:0:0:0:ffff') {
    return groups.slice(0, 4).join(':');
  }
  return groups
    .slice(6)
    .map(group => parseInt(group, 16))
    .flatMap(pair => [Math.floor(pair / 256), pair % 256])
    .join('.');
}
