import { setTimeout as sleep } from 'node:timers/promises';
import { compareAnswers, type Comparison } from './AnswerComparison';
import type { Write, Writing } from './Round';

/** What somebody says, each time they are asked. */
type Script = () => string;

/** One who writes all the time, unless held or told to stop. */
class ScriptedWriter implements Writing {
  lastWrite: Write = { beganAt: -Infinity, endedAt: -Infinity };
  holds = 0;
  #held = 0;

  async whileHeld<T>(work: () => Promise<T>): Promise<T> {
    this.holds++;
    this.#held++;
    try {
      return await work();
    } finally {
      this.#held--;
    }
  }

  async write(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.#held === 0) {
        const now = performance.now();
        this.lastWrite = { beganAt: now, endedAt: now };
      }
      await sleep(20);
    }
  }
}

describe('compareAnswers', () => {
  let writer: ScriptedWriter;
  let over: AbortController;
  /** How often all entries have been read by LDAP. */
  let readings: number;

  beforeEach(() => {
    writer = new ScriptedWriter();
    over = new AbortController();
    readings = 0;
  });

  afterEach(() => over.abort());

  /** Compares what both say with each other, and with what LDAP says. */
  async function compare(options: {
    readonly copy: Script;
    readonly direct: Script;
    readonly ldap?: Script;
    /** The number of the directory's last write. Default: always the same. */
    readonly usn?: Script;
    /** Whether all entries are known already. Default: they are not. */
    readonly known?: boolean;
  }): Promise<Comparison> {
    const { usn = () => '1', ldap = () => 'nobody asks' } = options;
    const say = (script: Script) => {
      const text = script();
      return { status: text === 'gone' ? 404 : 200, text };
    };
    const truth = () => ({ usn: usn(), answer: say(ldap) });
    return compareAnswers(
      {
        copy: async () => say(options.copy),
        direct: async () => say(options.direct),
        ldap: {
          lastUsn: async () => usn(),
          ask: async () => {
            readings++;
            return truth();
          },
          recall: async () => (options.known ? truth() : undefined),
        },
      },
      { writer, signal: over.signal },
    );
  }

  it('finds a copy that is not what LDAP says, though it follows', async () => {
    const wrong = await compare({
      copy: () => (readings > 0 ? 'alice' : 'bob'),
      direct: () => 'alice',
      ldap: () => 'alice',
    });
    expect(wrong).toMatchObject({
      kind: 'wrong',
      ms: expect.any(Number),
      verdict: {
        rounds: [{ copy: { text: 'bob' }, direct: { text: 'alice' } }],
        truth: { answer: { text: 'alice' } },
      },
    });
  });

  it('finds a difference that is only in the status', async () => {
    const wrong = await compare({
      copy: () => (readings > 0 ? 'alice' : 'gone'),
      direct: () => 'alice',
      ldap: () => 'alice',
    });
    expect(wrong.kind).toBe('wrong');
  });

  it('finds a copy that is wrong where direct reads are, too', async () => {
    const wrong = await compare({
      copy: () => (readings > 0 ? 'alice' : 'bob'),
      direct: () => 'carol',
      ldap: () => 'alice',
    });
    expect(wrong.kind).toBe('wrong');
  });

  it('finds that both err alike, where all entries are known', async () => {
    const both = { copy: () => 'bob', direct: () => 'bob', known: true };
    const wrong = await compare({ ...both, ldap: () => 'alice' });
    const right = await compare({ ...both, ldap: () => 'bob' });
    expect(wrong.kind).toBe('wrong');
    expect(right).toEqual({ kind: 'same', proven: true });
  });

  it('says that direct reads are late where the copy is right', async () => {
    let asked = 0;
    const late = await compare({
      copy: () => 'new',
      direct: () => (asked++ < 3 ? 'old' : 'new'),
      ldap: () => 'new',
    });
    expect(late).toMatchObject({
      kind: 'directLate',
      ms: expect.any(Number),
      verdict: { truth: { answer: { text: 'new' } } },
    });
  });

  it('takes nothing of before that has changed though nothing was written', async () => {
    let asked = 0;
    const wrong = await compare({
      copy: () => (readings > 0 ? 'new' : 'old'),
      direct: () => (asked++ < 1 ? 'old' : 'new'),
      ldap: () => 'new',
    });
    expect(wrong.kind).toBe('wrong');
  });

  it('asks LDAP again after a write, whoever was late before', async () => {
    let asked = 0;
    // After LDAP has been asked once.
    const isWritten = () => asked > 2;
    const wrong = await compare({
      copy: () => (readings > 1 ? 'new' : 'old'),
      direct: () => `${asked++}`,
      ldap: () => (isWritten() ? 'new' : 'old'),
      usn: () => (isWritten() ? '2' : '1'),
    });
    expect([wrong.kind, readings]).toEqual(['wrong', 2]);
  });

  it('does not blame a copy for what somebody else wrote', async () => {
    let usn = 0;
    const undecided = await compare({
      copy: () => 'old',
      direct: () => 'new',
      ldap: () => 'new',
      usn: () => `${usn++}`,
    });
    expect(undecided.kind).toBe('undecided');
  });

  it('takes what both say', async () => {
    const same = await compare({ copy: () => 'bob', direct: () => 'bob' });
    expect(same).toEqual({ kind: 'same', proven: false });
    expect([writer.holds, readings]).toEqual([0, 0]);
  });

  describe('while it is written to', () => {
    let writing: Promise<void>;

    beforeEach(() => {
      writing = writer.write(over.signal);
    });

    afterEach(async () => {
      over.abort();
      await writing;
    });

    it('takes what direct reads said just before, or say just after', async () => {
      let asked = 0;
      const direct = () => `${asked++}`;
      const before = await compare({ copy: () => '0', direct });
      asked = 0;
      const after = await compare({ copy: () => '1', direct });
      const same = { kind: 'same', proven: false };
      expect([before, after]).toEqual([same, same]);
    });

    it('waits for a copy that follows', async () => {
      let asked = 0;
      const late = await compare({
        copy: () => (asked++ < 3 ? 'old' : 'new'),
        direct: () => 'new',
        ldap: () => 'new',
      });
      expect(late).toMatchObject({ kind: 'late', ms: expect.any(Number) });
    });

    it('waits for direct reads that follow', async () => {
      let asked = 0;
      const ahead = await compare({
        copy: () => 'new',
        direct: () => (asked++ < 3 ? 'old' : 'new'),
        ldap: () => 'new',
      });
      expect(ahead.kind).toBe('ahead');
    });

    it('holds the writing when it takes a second, and asks LDAP', async () => {
      const late = await compare({
        copy: () => (writer.holds > 0 ? 'new' : 'old'),
        direct: () => 'new',
        ldap: () => 'new',
      });
      expect(late).toMatchObject({
        kind: 'late',
        ms: expect.any(Number),
        verdict: { truth: { answer: { text: 'new' } } },
      });
      expect([writer.holds, readings]).toEqual([1, 1]);
    });

    it('finds a copy that is wrong a second after that', async () => {
      const wrong = await compare({
        copy: () => (readings > 0 ? 'new' : 'old'),
        direct: () => 'new',
        ldap: () => 'new',
      });
      expect(wrong.kind).toBe('wrong');
    });
  });
});
