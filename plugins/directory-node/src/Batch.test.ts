import { Batch } from './Batch';

/** A batch that records its runs and fails for some items. */
function recorded(failing: readonly number[] = []) {
  const runs: (readonly number[])[] = [];
  const batch = new Batch(async (items: readonly number[]) => {
    runs.push(items);
    const failed = items.find(item => failing.includes(item));
    if (failed !== undefined) {
      throw new Error(`item ${failed}`);
    }
    return items.map(item => item * 10);
  });
  return { batch, runs };
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

describe('Batch', () => {
  it('combines concurrent calls and returns the result of each', async () => {
    const { batch, runs } = recorded();
    await expect(
      Promise.all([1, 2, 3].map(i => batch.add(i))),
    ).resolves.toEqual([10, 20, 30]);
    expect(runs).toEqual([[1, 2, 3]]);
  });

  it('waits for calls while turns of the event loop add some', async () => {
    const { batch, runs } = recorded();
    const calls = [batch.add(1)];
    await turns(1);
    calls.push(batch.add(2));
    await turns(1);
    calls.push(batch.add(3));
    await Promise.all(calls);
    expect(runs).toEqual([[1, 2, 3]]);
  });

  it('never adds a call to a batch that has started', async () => {
    const started: number[][] = [];
    let finish = () => {};
    const batch = new Batch(async (items: readonly number[]) => {
      started.push([...items]);
      await new Promise<void>(resolve => {
        finish = resolve;
      });
      return items;
    });
    const first = batch.add(1);
    await until(() => started.length === 1);
    const later = [batch.add(2), batch.add(3)];
    await turns(5);
    expect(started).toEqual([[1]]);
    finish();
    await first;
    await until(() => started.length === 2);
    finish();
    await expect(Promise.all(later)).resolves.toEqual([2, 3]);
    expect(started).toEqual([[1], [2, 3]]);
  });

  it('fails only the calls whose own item fails', async () => {
    const { batch, runs } = recorded([2]);
    const results = await Promise.allSettled(
      [1, 2, 3].map(item => batch.add(item)),
    );
    expect(results).toEqual([
      { status: 'fulfilled', value: 10 },
      { status: 'rejected', reason: new Error('item 2') },
      { status: 'fulfilled', value: 30 },
    ]);
    expect(runs).toEqual([[1, 2, 3], [1], [2], [3]]);
    await expect(batch.add(4)).resolves.toBe(40);
  });

  it('rejects when run throws synchronously', async () => {
    const batch = new Batch((): Promise<string[]> => {
      throw new Error('no connection');
    });
    await expect(batch.add('a')).rejects.toThrow('no connection');
  });

  it('limits the size of a batch', async () => {
    const { batch, runs } = recorded();
    const items = numbers(150);
    await Promise.all(items.map(item => batch.add(item)));
    expect(runs.map(({ length }) => length)).toEqual([64, 64, 22]);
    expect(runs.flat()).toEqual(items);
  });
});

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) {
    await new Promise(resolve => setImmediate(resolve));
  }
}

async function until(check: () => boolean): Promise<void> {
  while (!check()) {
    await turns(1);
  }
}
