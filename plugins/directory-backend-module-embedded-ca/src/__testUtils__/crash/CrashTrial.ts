import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SigningRequest } from '@directory-gateway/backstage-plugin-directory-node';
import { Certificate } from '@directory-gateway/x509';
import {
  AUTHORITIES,
  CERTIFICATES,
  type CertificateRow,
} from '../../database/rows';
import { compareLog } from '../../issuers/issuanceLog';
import { serialNumberOf } from '../certificateFacts';
import { aliceRequest } from '../requests';
import { TestCa } from '../TestCa';
import type { TestDatabaseKind } from '../TestDatabase';
import { AuthorityProcess, ProcessEndedError } from './AuthorityProcess';
import type { HostOptions } from './authorityHost';
import { SignerProcess } from './SignerProcess';

/** Number of concurrent clients. */
const CLIENTS = 8;

/** One process in this many is killed while it opens the CA; others while signing. */
const KILLED_AT_START = 5;

/** Number of first kills while the CA is opened. */
const FIRST_AT_START = 4;

/** Maximum time until a kill in milliseconds: opening, signing. */
const LONGEST_OPENING_MS = 300;
const SIGNING_MS = 500;

/** Pause of a client after an error, while the signer starts. */
const RETRY_MS = 20;

/**
 * Result of a trial. `lost`, `duplicates`, `changed`, `misfiled`, `onlyInLog` and
 * `onlyInDatabase` must be 0.
 */
export interface CrashCounts {
  readonly kills: number;
  /** Kills of the process that signs. */
  readonly signerKills: number;
  /** Kills while the CA was being opened. */
  readonly killsAtStart: number;
  /** Certificates that clients received. */
  readonly received: number;
  /** Requests without a response, which were sent again. */
  readonly unanswered: number;
  /** Received certificates that are not recorded byte for byte. */
  readonly lost: number;
  /** Serial numbers that several requests received. */
  readonly duplicates: number;
  /** Repeated requests within a minute that received another certificate. */
  readonly changed: number;
  /** Certificates that are recorded with a wrong serial number. */
  readonly misfiled: number;
  /** Reserved serial numbers without certificate, which crashes may leave. */
  readonly reserved: number;
  /** Certificates in the log that only the last start has imported. */
  readonly imported: number;
  /** Certificates without a record in the database, after the last start. */
  readonly onlyInLog: number;
  /** Certificates without a record in the log. */
  readonly onlyInDatabase: number;
  /** Recorded issuers. */
  readonly issuers: number;
}

/**
 * Kills the CA repeatedly while clients send requests, then compares what they
 * received with what is recorded.
 */
export class CrashTrial {
  readonly #ca: TestCa;
  readonly #options: HostOptions;
  readonly #signer: SignerProcess | undefined;
  readonly #received = new Map<SigningRequest, Buffer>();
  readonly #unanswered = new Set<SigningRequest>();
  #unansweredCount = 0;
  #killsAtStart = 0;
  #signerKills = 0;
  /** Maximum time until a kill that comes before the CA is open. */
  #openingMs = LONGEST_OPENING_MS;
  #changed = 0;

  /** @param options - `signer`: in the process of the gateway, or in another */
  static async run(options: {
    readonly kind: TestDatabaseKind;
    readonly signer: 'file' | 'socket';
    readonly kills: number;
  }): Promise<CrashCounts> {
    const ca = await TestCa.start(options.kind, { tables: 'none' });
    const signer =
      options.signer === 'socket' ? await SignerProcess.create(ca) : undefined;
    try {
      const trial = new CrashTrial(ca, signer);
      await trial.#killRepeatedly(options.kills);
      return { kills: options.kills, ...(await trial.#count()) };
    } finally {
      await signer?.kill();
      await ca.stop();
    }
  }

  private constructor(ca: TestCa, signer: SignerProcess | undefined) {
    this.#ca = ca;
    this.#signer = signer;
    this.#options = {
      database: ca.database.config,
      embedded: ca.block(signer ? { socket: signer.socket } : {}),
    };
  }

  async #killRepeatedly(total: number): Promise<void> {
    // The next process loads its code while this one runs.
    let next = AuthorityProcess.load();
    try {
      for (let kills = 1; kills <= total; kills++) {
        const current = next;
        await current.loaded();
        await this.#signer?.start();
        next = AuthorityProcess.load();
        await (kills <= FIRST_AT_START || kills % KILLED_AT_START === 0
          ? this.#killOpening(current)
          : this.#killSigning(current, kills));
      }
      await this.#signer?.start();
      await next.start(this.#options);
      for (const request of this.#unanswered) {
        await this.#sign(next, request);
      }
    } finally {
      await next.kill();
    }
  }

  /**
   * The duration of the opening depends on the machine and its load: a kill that
   * was too late makes the next one earlier, one in time makes it later, so that
   * kills are spread over the whole duration.
   */
  async #killOpening(authority: AuthorityProcess): Promise<void> {
    const opened = authority.start(this.#options).then(
      () => true,
      error => isEnd(error) && false,
    );
    await sleep(randomInt(Math.ceil(this.#openingMs)));
    await authority.kill();
    if (await opened) {
      this.#openingMs = Math.max(1, this.#openingMs / 2);
    } else {
      this.#killsAtStart += 1;
      this.#openingMs = Math.min(LONGEST_OPENING_MS, this.#openingMs * 1.2);
    }
  }

  /**
   * Without a separate signer, only the gateway is killed. Otherwise the gateway,
   * both, or only the signer, which starts again while the gateway runs.
   */
  async #killSigning(
    authority: AuthorityProcess,
    kills: number,
  ): Promise<void> {
    try {
      await authority.start(this.#options);
      const clients = Array.from({ length: CLIENTS }, () =>
        this.#use(authority),
      );
      await sleep(randomInt(SIGNING_MS));
      if (this.#signer && kills % 3 > 0) {
        await this.#signer.kill();
        this.#signerKills += 1;
        if (kills % 3 === 1) {
          await this.#signer.start();
          await sleep(SIGNING_MS);
        }
      }
      await authority.kill();
      await Promise.all(clients);
    } finally {
      await authority.kill();
    }
  }

  /** One client: sends requests until the process is killed. */
  async #use(authority: AuthorityProcess): Promise<void> {
    for (;;) {
      const request = this.#nextRequest();
      switch (await this.#sign(authority, request)) {
        case 'ended':
          return;
        case 'failed':
          await sleep(RETRY_MS);
          break;
        default:
      }
    }
  }

  /** Repeats requests without a response first, and sometimes one with a response. */
  #nextRequest(): SigningRequest {
    const [unanswered] = this.#unanswered;
    if (unanswered) {
      this.#unanswered.delete(unanswered);
      return unanswered;
    }
    const last = [...this.#received.keys()].at(-1);
    return last && randomInt(10) === 0 ? last : aliceRequest();
  }

  async #sign(
    authority: AuthorityProcess,
    request: SigningRequest,
  ): Promise<'received' | 'failed' | 'ended'> {
    try {
      const certificate = await authority.sign(request);
      const before = this.#received.get(request);
      this.#changed += before && !before.equals(certificate) ? 1 : 0;
      this.#received.set(request, before ?? certificate);
      return 'received';
    } catch (error) {
      if (!this.#received.has(request)) {
        this.#unansweredCount += 1;
        this.#unanswered.add(request);
      }
      if (error instanceof ProcessEndedError) {
        return 'ended';
      }
      if (this.#signer && /AuthorityUnavailable/.test(String(error))) {
        return 'failed';
      }
      throw error;
    }
  }

  async #count(): Promise<Omit<CrashCounts, 'kills'>> {
    const { knex } = this.#ca.database;
    await this.#signer?.start();
    const node = await this.#ca.open(this.#options.embedded);
    const { signer } = await node.issuers.require();
    const compare = async () =>
      await compareLog({
        database: knex,
        logged: signer.loggedCertificates(),
        issuerIds: [this.#ca.intermediate.id],
      });
    const before = await compare();
    await node.maintain();
    const after = await compare();
    const rows: CertificateRow[] = await knex(CERTIFICATES);
    const recorded = new Map(rows.map(row => [row.serial_number, row]));
    const received = [...this.#received.values()];
    const serialNumbers = received.map(certificate =>
      String(serialNumberOf({ certificate: new Certificate(certificate) })),
    );
    const isLost = (certificate: Buffer, index: number) =>
      !recorded.get(serialNumbers[index])?.certificate?.equals(certificate);
    const isMisfiled = ({ certificate, serial_number }: CertificateRow) =>
      certificate &&
      String(serialNumberOf({ certificate: new Certificate(certificate) })) !==
        serial_number;
    return {
      signerKills: this.#signerKills,
      killsAtStart: this.#killsAtStart,
      received: received.length,
      unanswered: this.#unansweredCount,
      lost: received.filter(isLost).length,
      duplicates: received.length - new Set(serialNumbers).size,
      changed: this.#changed,
      misfiled: rows.filter(isMisfiled).length,
      reserved: rows.filter(({ certificate }) => !certificate).length,
      imported: before.onlyInLog.length,
      onlyInLog: after.onlyInLog.length,
      onlyInDatabase: after.onlyInDatabase.length,
      issuers: (await knex(AUTHORITIES)).length,
    };
  }
}

/** @throws the error when it is another one */
function isEnd(error: unknown): boolean {
  if (error instanceof ProcessEndedError) {
    return true;
  }
  throw error;
}
