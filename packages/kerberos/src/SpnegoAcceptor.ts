import { statSync } from 'node:fs';
import { isNativeError } from 'node:util/types';
import type { LoggerService } from '@backstage/backend-plugin-api';
import { AcceptMetrics } from './AcceptMetrics';
import { acceptSecurityContext } from './acceptSecurityContext';
import { claimKerberosEnvironment } from './claimKerberosEnvironment';
import { checkSecretFile } from '@directory-gateway/secret-files';
import { inspectKeytab } from './keytab';
import { interpretStatus } from './interpretStatus';
import { isWebService, judgePrincipal, realmOf } from './checkPrincipal';
import {
  KerberosRefusalReason,
  KerberosResult,
  KerberosService,
  KerberosUnavailable,
} from './KerberosService';
import { KeytabEntry } from './keytab';
import { offersNtlm, parseNegotiate } from './parseNegotiate';
import { KerberosConfig } from './readKerberosConfig';
import { refusalMessages } from './KerberosService';

/**
 * Options of {@link SpnegoAcceptor}.
 *
 * @public
 */
export interface SpnegoAcceptorOptions extends KerberosConfig {
  logger: LoggerService;
}

/** What a token is checked against besides the keys. */
interface CheckedKeytab {
  /** The realms of its `HTTP/` keys; none when the file cannot be read. */
  readonly realms: readonly string[];
  /** Why it must not be used, for the log. */
  readonly problem?: string;
}

const UNAVAILABLE: KerberosUnavailable = {
  outcome: 'unavailable',
  message: 'This server cannot check Kerberos tickets at the moment.',
};

/**
 * Accepts SPNEGO tokens (RFC 4178) sent by HTTP's `Negotiate` scheme (RFC 4559), with the keys of
 * one keytab. {@link kerberosServiceRef} is this class as a Backstage service.
 *
 * The keytab is the Kerberos library's to read, anew for every token: a key that is added works at
 * once, one that is removed stops working at once, and a keytab that appears later brings the
 * acceptor to life. There is nothing to close.
 *
 * @public
 */
export class SpnegoAcceptor implements KerberosService {
  readonly #keytab: string;
  readonly #realm: string | undefined;
  readonly #realms: readonly string[];
  readonly #maxTokenBytes: number;
  readonly #logger: LoggerService;
  readonly #metrics = new AcceptMetrics();
  /** What is known of the keytab, with the version of the file. */
  #checkedKeytab: { version: string; keytab: CheckedKeytab } | undefined;
  /** Why no ticket can be checked, as it was last logged. */
  #trouble: string | undefined;

  /**
   * Claims the keytab for this process and says in the log what it holds, or what is wrong with it.
   * An unusable keytab is no error here: it may still come.
   *
   * @throws Error when the environment contradicts the options; see the `kerberos` configuration
   * @throws SecretFileError when other users can read the keytab
   */
  static async create(options: SpnegoAcceptorOptions): Promise<SpnegoAcceptor> {
    const keytab = claimKerberosEnvironment({ keytab: options.keytab });
    await checkSecretFile(keytab, { key: 'kerberos.keytab' });
    const acceptor = new SpnegoAcceptor({ ...options, keytab });
    const state = await inspectKeytab(keytab);
    if (state.usable) {
      acceptor.#logKeys(state.entries);
      await acceptor.#checkKeytab();
    } else {
      acceptor.#noteTrouble(state.problem);
    }
    return acceptor;
  }

  private constructor(options: SpnegoAcceptorOptions & { keytab: string }) {
    this.#keytab = options.keytab;
    this.#realm = options.realm;
    this.#realms = options.realms;
    this.#maxTokenBytes = options.maxTokenBytes;
    this.#logger = options.logger;
  }

  async accept(
    authorizationHeader: string | readonly string[] | undefined,
  ): Promise<KerberosResult> {
    const start = performance.now();
    let result: KerberosResult;
    try {
      result = await this.#judge(authorizationHeader);
    } catch (error) {
      this.#logger.error(
        'Judging an Authorization header failed',
        isNativeError(error) ? error : undefined,
      );
      result = UNAVAILABLE;
    }
    this.#metrics.record(result, (performance.now() - start) / 1000);
    return result;
  }

  async #judge(
    header: string | readonly string[] | undefined,
  ): Promise<KerberosResult> {
    const credentials = parseNegotiate(header, {
      maxTokenBytes: this.#maxTokenBytes,
    });
    if (credentials.kind === 'refused') {
      return refuse(credentials.reason);
    }
    const context = await acceptSecurityContext(credentials.base64);
    switch (context.state) {
      case 'established':
        return this.#admit(context);
      case 'continuation_needed':
        return refuse('continuation_required');
      default:
        return this.#explain(context.status, credentials.bytes);
    }
  }

  async #admit(context: {
    principal: string;
    service: string;
    replyToken?: string;
  }): Promise<KerberosResult> {
    const { principal, service, replyToken } = context;
    const { realms, problem } = await this.#checkKeytab();
    if (problem !== undefined) {
      this.#noteTrouble(problem);
      return UNAVAILABLE;
    }
    this.#noteRecovery();
    const reason = judgePrincipal({
      principal,
      service,
      realm: this.#realm ?? (realms.length === 1 ? realms[0] : undefined),
      realms: this.#realms,
    });
    if (reason) {
      this.#logger.debug(
        `Refused a valid ticket for ${printable(service)}: ${reason}`,
      );
      return refuse(reason);
    }
    return {
      outcome: 'accepted',
      principal,
      ...(replyToken && { replyToken }),
    };
  }

  /**
   * Reads the keytab again if the file has changed. The test for a change is
   * synchronous, as the Kerberos library's access to the file is: it runs for
   * every token, and an asynchronous one costs 60 µs of CPU.
   */
  async #checkKeytab(): Promise<CheckedKeytab> {
    const stats = statSync(this.#keytab, { throwIfNoEntry: false });
    if (!stats) {
      return { realms: [] };
    }
    const version = [
      stats.ino,
      stats.size,
      stats.mtimeMs,
      stats.ctimeMs,
    ].join();
    if (this.#checkedKeytab?.version !== version) {
      const keytab = await this.#readKeytab();
      this.#checkedKeytab = { version, keytab };
      if (this.#realm === undefined) {
        this.#warnOfSeveralRealms(keytab.realms);
      }
    }
    return this.#checkedKeytab.keytab;
  }

  async #readKeytab(): Promise<CheckedKeytab> {
    try {
      await checkSecretFile(this.#keytab, { key: 'kerberos.keytab' });
    } catch (error) {
      return { realms: [], problem: `${(error as Error).message}.` };
    }
    const state = await inspectKeytab(this.#keytab);
    return { realms: state.usable ? realmsOf(state.entries) : [] };
  }

  #warnOfSeveralRealms(realms: readonly string[]): void {
    if (realms.length > 1) {
      this.#logger.warn(
        `The keytab ${
          this.#keytab
        } holds HTTP/ keys of several realms (${realms.join(
          ', ',
        )}). Set kerberos.realm to the portal's own; until then only users of kerberos.realms are accepted.`,
      );
    }
  }

  /** The keytab is read only now: a token that was accepted has proved it good. */
  async #explain(status: string, token: Buffer): Promise<KerberosResult> {
    const keytab = await inspectKeytab(this.#keytab);
    if (!keytab.usable) {
      this.#noteTrouble(keytab.problem);
      return UNAVAILABLE;
    }
    const verdict = interpretStatus(status, { offersNtlm: offersNtlm(token) });
    if (verdict === 'server_trouble') {
      this.#noteTrouble(`The Kerberos library reports: ${printable(status)}.`);
      return UNAVAILABLE;
    }
    if (verdict) {
      this.#logger.debug(`Refused a token: ${printable(status)}`);
    } else {
      this.#logger.warn(
        `Refused a token for an unexpected reason: ${printable(status)}`,
      );
    }
    return refuse(verdict ?? 'malformed_token');
  }

  #logKeys(entries: KeytabEntry[]): void {
    const keys = entries
      .filter(entry => isWebService(entry.principal))
      .map(entry => `${entry.principal} (key version ${entry.kvno})`);
    if (keys.length > 0) {
      this.#logger.info(
        `Accepting Kerberos tickets for ${[...new Set(keys)].join(', ')}`,
      );
    } else {
      this.#logger.warn(
        `No key in the keytab ${
          this.#keytab
        } is of an HTTP/ principal, so every Kerberos ticket ` +
          `is refused. Add the key of HTTP/<this server's name>; no restart is needed.`,
      );
    }
  }

  #noteTrouble(trouble: string): void {
    if (this.#trouble !== trouble) {
      this.#trouble = trouble;
      this.#logger.warn(
        `${trouble} Until this is mended, no Kerberos ticket can be checked; no restart is needed.`,
      );
    }
  }

  #noteRecovery(): void {
    if (this.#trouble !== undefined) {
      this.#trouble = undefined;
      this.#logger.info('Kerberos tickets are accepted again.');
    }
  }
}

function realmsOf(entries: readonly KeytabEntry[]): readonly string[] {
  const realms = entries
    .filter(({ principal }) => isWebService(principal))
    .flatMap(({ principal }) => realmOf(principal) ?? []);
  return [...new Set(realms)].sort();
}

function refuse(reason: KerberosRefusalReason): KerberosResult {
  return { outcome: 'refused', reason, message: refusalMessages[reason] };
}

/** For the log: a status can carry names, and so control characters, of the sender's choice. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}
