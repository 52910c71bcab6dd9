import type { JsonObject } from '@backstage/types';
import { digestOf, located } from './entities';

const entity = (title: string, spec: JsonObject) =>
  located({
    apiVersion: 'backstage.io/v1alpha1',
    kind: 'User',
    metadata: { name: 'alice', title },
    spec,
  });

describe('located', () => {
  it('cleans every text and key, also of transforms', () => {
    const { metadata, spec } = entity('half \ud83d', {
      list: [{ 'key\0': 'value\u001b' }, 1, true, null],
    });
    expect(metadata.title).toBe('half \ufffd');
    expect(spec).toEqual({
      list: [{ 'key\ufffd': 'value\ufffd' }, 1, true, null],
    });
  });

  it('limits texts to 10,000 characters', () => {
    const { metadata } = entity('x'.repeat(10_001), {});
    expect(metadata.title).toBe('x'.repeat(10_000));
  });

  it('has the digest of the cleaned entity', () => {
    expect(digestOf(entity('a\0b', {}))).toBe(digestOf(entity('a\ufffdb', {})));
  });
});
