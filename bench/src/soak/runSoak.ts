import { startRealm } from '@directory-gateway/realm';
import { setTimeout as sleep } from 'node:timers/promises';
import { DirectoryWriter } from '../age/DirectoryWriter';
import { DirectoryClient } from '../DirectoryClient';
import { People } from '../People';
import { Portal, type Memory } from '../portal/Portal';
import type { Reads } from '../readOptions';
import { SeededRandom } from '../SeededRandom';
import { settings } from '../settings';
import { GUEST } from '../ways/measureWay';
import { compareForever, holdAgainstLdap, loadForever } from './askForever';
import { LdapTruth } from './LdapTruth';
import { RawEntries } from './RawEntries';
import { Rest } from './Rest';
import { SoakCallers } from './SoakCallers';
import { SoakPortal } from './SoakPortal';
import { SoakWriter } from './SoakWriter';
import { Tally } from './Tally';

/** A service of the realm with a ticket, which is no user. */
const SERVICE = 'bot/builder.example.test';
const COMPARING = 4;
const LOADING = 6;
const MINUTE_MS = 60_000;

/** What was seen in a minute. */
export interface SoakMinute extends Memory {
  readonly eventLoopDelayMs: number;
}

/** What a soak came to. */
export interface SoakResult {
  readonly tally: Tally;
  readonly writes: number;
  readonly minutes: readonly SoakMinute[];
}

/** How long, with how many people, and who hears of each minute. */
export interface SoakRun {
  readonly users: number;
  readonly minutes: number;
  readonly signal: AbortSignal;
  readonly tell: (line: string) => void;
  readonly minute: (minute: SoakMinute, so: SoakResult) => void;
}

/**
 * Asks a portal with a copy and one without the same questions for some time,
 * while the directory is being changed.
 *
 * @throws Error when something does not start, or ends before its time
 */
export async function runSoak(run: SoakRun): Promise<SoakResult> {
  const endings: (() => Promise<unknown>)[] = [];
  const over = new AbortController();
  const signal = AbortSignal.any([run.signal, over.signal]);
  const random = new SeededRandom(settings.seed);
  const tally = new Tally(run.tell);
  const rest = new Rest();
  const minutes: SoakMinute[] = [];
  try {
    const realm = await startRealm({ ...run, accessLog: 'buffered' });
    endings.push(() => realm.stop());
    const directory = await DirectoryClient.connect(realm);
    const people = await People.read(directory);
    await directory.close();
    const entries = await RawEntries.connect(realm);
    endings.push(() => entries.close());
    const ldap = new LdapTruth({ entries, realm: realm.realm });
    const callers = await SoakCallers.start({
      ...{ realm, people, random, guest: GUEST, service: SERVICE },
      cpu: settings.generatorCpu,
    });
    endings.push(() => callers.stop());
    const open = async (variant: Reads, cpu: number) => {
      const portal = await Portal.start({ realm, variant, cpu });
      const soaked = new SoakPortal({
        ...{ portal, tickets: callers, guest: GUEST },
      });
      endings.push(() => soaked.close());
      await portal.untilReady(signal);
      await soaked.renew();
      return soaked;
    };
    const direct = await open('direct', settings.generatorCpu);
    const copy = await open('replica', settings.portalCpu);
    await copy.portal.untilCopied(signal, settings.copyPatienceMs);
    const connection = await DirectoryWriter.connect(realm);
    endings.push(() => connection.close());
    const writer = new SoakWriter({
      ...{ writer: connection, people, random },
      except: callers.everybody,
    });
    const asking = { copy, direct, ldap, callers, writer, people, random };
    const soak = { ...asking, rest, tally, signal };
    const work = Promise.all([
      writer.run(signal),
      ...Array.from({ length: COMPARING }, () => compareForever(soak)),
      ...Array.from({ length: LOADING }, () => loadForever(soak)),
    ]);
    endings.push(() => work.catch(() => {}));
    const result = () => ({ tally, writes: writer.writes, minutes });
    const watch = async () => {
      const start = performance.now();
      for (let minute = 1; minute <= run.minutes; minute++) {
        await copy.portal.vitals();
        const left = start + minute * MINUTE_MS - performance.now();
        await sleep(Math.max(0, left), undefined, { signal });
        const { eventLoopDelayMs } = await copy.portal.vitals();
        // What answers leave behind is no growth.
        const memory = await rest.during(() => copy.portal.memory());
        minutes.push({ ...memory, eventLoopDelayMs });
        run.minute(minutes.at(-1)!, result());
        await holdAgainstLdap(soak);
        await copy.renew();
        await direct.renew();
      }
    };
    // What asks never ends by itself.
    await Promise.race([watch(), work]);
    return result();
  } finally {
    over.abort();
    for (const end of endings.reverse()) {
      await end();
    }
  }
}
