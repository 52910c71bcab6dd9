import { statSync } from 'node:fs';
import { isNativeError } from 'node:util/types';
import type { LoggerService } from '@backstage/backend-plugin-api';
import { checkSecretFile } from '@directory-gateway/secret-files';
import { AcceptMetrics } from './AcceptMetrics';
import { acceptSecurityContext } from './acceptSecurityContext';
import { checkPrincipal, isWebService, realmOf } from './checkPrincipal';
import { claimKerberosEnvironment } from './claimKerberosEnvironment';
import { interpretStatus } from './interpretStatus';
import {
  KerberosRefusalReason,
  KerberosResult,
  KerberosService,
  KerberosUnavailable,
  refusalMessages,
} from './KerberosService';
import { inspectKeytab, KeytabEntry } from './keytab';
import { offersNtlm, parseNegotiate } from './parseNegotiate';
import { KerberosConfig } from './readKerberosConfig';

/**
 * Options of {@link SpnegoAcceptor}.
 *
 * @public
 */
export interface SpnegoAcceptorOptions extends KerberosConfig {
  /** Logs problems of the keytab and, at `debug`, why a token is refused. */
  logger: LoggerService;
}

/** Properties of the keytab that are checked in addition to its keys. */
interface CheckedKeytab {
  /** The realms of its `HTTP/` keys; none when the file cannot be read. */
  readonly realms: readonly string[];
  /** Why the keytab must not be used, for the log. */
  readonly problem?: string;
}

const UNAVAILABLE: KerberosUnavailable = {
  outcome: 'unavailable',
  message: 'This server cannot check Kerberos tickets at the moment.',
};

/**
 * Accepts SPNEGO tokens (RFC 4178) of HTTP's `Negotiate` scheme (RFC 4559) with
 * the keys of one keytab. {@link kerberosServiceRef} provides this class as a
 * Backstage service.
 *
 * The Kerberos library reads the keytab for every token: an added key is
 * accepted immediately, a removed one is refused immediately, and the keytab
 * may be created later. An acceptor does not have to be closed.
 *
 * @public
 */
export class SpnegoAcceptor implements KerberosService {
  readonly #options: SpnegoAcceptorOptions & { readonly keytab: string };
  readonly #metrics = new AcceptMetrics();
  /** The last check of the keytab, with the version of the file. */
  #checkedKeytab: { version: string; keytab: CheckedKeytab } | undefined;
  /** The problem that was logged last, until it is solved. */
  #problem: string | undefined;

  /**
   * Sets the keytab of this process and logs its keys or its problem. An
   * unusable keytab is not an error: a usable one may be provided later.
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
      acceptor.#reportProblem(state.problem);
    }
    return acceptor;
  }

  private constructor(options: SpnegoAcceptorOptions & { keytab: string }) {
    this.#options = options;
  }

  /** See {@link KerberosService.accept}. */
  async accept(
    authorizationHeader: string | readonly string[] | undefined,
  ): Promise<KerberosResult> {
    const start = performance.now();
    let result: KerberosResult;
    try {
      result = await this.#evaluate(authorizationHeader);
    } catch (error) {
      this.#options.logger.error(
        'Evaluating an Authorization header failed',
        isNativeError(error) ? error : undefined,
      );
      result = UNAVAILABLE;
    }
    this.#metrics.record(result, (performance.now() - start) / 1000);
    return result;
  }

  async #evaluate(
    header: string | readonly string[] | undefined,
  ): Promise<KerberosResult> {
    const credentials = parseNegotiate(header);
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
    const { realm: ownRealm, realms, logger } = this.#options;
    const keytab = await this.#checkKeytab();
    if (keytab.problem !== undefined) {
      return this.#reportProblem(keytab.problem);
    }
    if (this.#problem !== undefined) {
      this.#problem = undefined;
      logger.info('Kerberos tickets are accepted again.');
    }
    const onlyRealm = keytab.realms.length === 1 ? keytab.realms[0] : undefined;
    const reason = checkPrincipal({
      principal,
      service,
      realm: ownRealm ?? onlyRealm,
      realms,
    });
    if (reason) {
      logger.debug(
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
   * Checks the keytab again if the file has changed. This runs for every token
   * and is synchronous, like the Kerberos library's own access: an asynchronous
   * call costs 60 µs of CPU.
   */
  async #checkKeytab(): Promise<CheckedKeytab> {
    const { keytab: path, realm, logger } = this.#options;
    const stats = statSync(path, { throwIfNoEntry: false });
    if (!stats) {
      return { realms: [] };
    }
    const { ino, size, mtimeMs, ctimeMs } = stats;
    const version = [ino, size, mtimeMs, ctimeMs].join();
    if (this.#checkedKeytab?.version !== version) {
      const keytab = await this.#readKeytab();
      this.#checkedKeytab = { version, keytab };
      if (realm === undefined && keytab.realms.length > 1) {
        logger.warn(
          `The keytab ${path} has HTTP/ keys for several realms (${keytab.realms.join(
            ', ',
          )}). Set kerberos.realm to the portal's realm; until then, only users from kerberos.realms are accepted.`,
        );
      }
    }
    return this.#checkedKeytab.keytab;
  }

  async #readKeytab(): Promise<CheckedKeytab> {
    const { keytab } = this.#options;
    try {
      await checkSecretFile(keytab, { key: 'kerberos.keytab' });
    } catch (error) {
      return { realms: [], problem: `${(error as Error).message}.` };
    }
    const state = await inspectKeytab(keytab);
    return { realms: state.usable ? realmsOf(state.entries) : [] };
  }

  /**
   * Inspects the keytab only after a token failed: an accepted token proves
   * that it is usable.
   */
  async #explain(status: string, token: Buffer): Promise<KerberosResult> {
    const { keytab: path, logger } = this.#options;
    const keytab = await inspectKeytab(path);
    if (!keytab.usable) {
      return this.#reportProblem(keytab.problem);
    }
    const reason = interpretStatus(status, { offersNtlm: offersNtlm(token) });
    if (reason === 'server_error') {
      return this.#reportProblem(
        `The Kerberos library reports: ${printable(status)}.`,
      );
    }
    if (reason) {
      logger.debug(`Refused a token: ${printable(status)}`);
    } else {
      logger.warn(
        `Refused a token for an unexpected reason: ${printable(status)}`,
      );
    }
    return refuse(reason ?? 'malformed_token');
  }

  #logKeys(entries: KeytabEntry[]): void {
    const { keytab, logger } = this.#options;
    const keys = entries
      .filter(entry => isWebService(entry.principal))
      .map(entry => `${entry.principal} (key version ${entry.kvno})`);
    if (keys.length > 0) {
      logger.info(
        `Accepting Kerberos tickets for ${[...new Set(keys)].join(', ')}`,
      );
    } else {
      logger.warn(
        `The keytab ${keytab} has no key of an HTTP/ principal, so every Kerberos ticket is refused. ` +
          `Add the key of HTTP/<this server's name>; no restart is needed.`,
      );
    }
  }

  /** Logs a problem of this server unless it was the last one logged. */
  #reportProblem(problem: string): KerberosUnavailable {
    if (this.#problem !== problem) {
      this.#problem = problem;
      this.#options.logger.warn(
        `${problem} Until this is fixed, Kerberos tickets cannot be checked; no restart is needed.`,
      );
    }
    return UNAVAILABLE;
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

/**
 * Returns a status for the log: the sender can choose names, and thus control
 * characters, in it.
 */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}
