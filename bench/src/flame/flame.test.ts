import { describeFlameGraph } from './describeFlameGraph';
import { drawFlameGraph } from './drawFlameGraph';
import { readCpuProfile, type CpuProfile } from './readCpuProfile';

const OURS = 'file:///portal/plugins/directory-backend/dist/http/users.cjs.js';
const EXPRESS = 'file:///portal/node_modules/express/lib/router.js';

function node(
  id: number,
  [functionName, url]: readonly [string, string],
  children: readonly number[] = [],
): CpuProfile['nodes'][number] {
  return { id, callFrame: { functionName, url, lineNumber: 4 }, children };
}

const profile: CpuProfile = {
  nodes: [
    node(1, ['(root)', ''], [2, 3, 6, 7]),
    node(2, ['(idle)', '']),
    node(3, ['next', EXPRESS], [4]),
    node(4, ['handle', EXPRESS], [5]),
    node(5, ['<getUser>', OURS]),
    node(6, ['(garbage collector)', '']),
    node(7, ['post', 'node:inspector'], [8]),
    node(8, ['', '']),
  ],
  samples: [2, 5, 5, 4, 6, 8],
  timeDeltas: [1000, 30, 30, 30, 10, 500],
};

describe('a flame graph', () => {
  const root = readCpuProfile(profile);

  it('counts what ran but the profiler, calls within a package as one', () => {
    expect(root.total).toBe(100);
    const express = root.children.get('express')!;
    expect([express.total, express.self]).toEqual([90, 30]);
    const ours = express.children.get('<getUser> · users')!;
    expect([ours.total, ours.origin]).toEqual([60, 'ours']);
    expect(root.children.get('(garbage collector)')!.total).toBe(10);
  });

  it('says in words where the time goes', () => {
    expect(describeFlameGraph(root)).toBe(
      'Time in themselves: <getUser> · users 60.0 %, express 30.0 %, (garbage collector) 10.0 %, all 0.0 %.',
    );
  });

  it('is a picture whose names are not taken for markup', () => {
    const picture = drawFlameGraph(root, { title: 'A & B', description: 'x' });
    const titles = [...picture.matchAll(/<g><title>(.*?)<\/title>/g)];
    expect(titles.map(([, title]) => title)).toEqual([
      ...['express, 90.0 %', '&lt;getUser&gt; · users, 60.0 %'],
      '(garbage collector), 10.0 %',
    ]);
    expect(picture).toContain('<title id="title">A &amp; B</title>');
  });
});
