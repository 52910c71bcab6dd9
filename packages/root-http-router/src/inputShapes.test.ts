import { parseFilterPredicate } from '@backstage/filter-predicates';
import fc from 'fast-check';
import { isEntityFilter, isPermissionItem, isPredicate } from './inputShapes';

const primitive = fc.oneof(fc.string(), fc.integer(), fc.boolean());
const name = fc.constantFrom('kind', 'metadata.name', '', 'a b');

/** Objects whose operands are of the named kind. */
const expressions = (
  tie: (name: string) => fc.Arbitrary<unknown>,
  operand: string,
) => [
  fc.dictionary(name, tie('valuePredicate')),
  fc.record({ $all: fc.array(tie(operand), { maxLength: 3 }) }),
  fc.record({ $any: fc.array(tie(operand), { maxLength: 3 }) }),
  fc.record({ $not: tie(operand) }),
];

const { predicate } = fc.letrec(tie => ({
  predicate: fc.oneof({ maxDepth: 4 }, ...expressions(tie, 'predicate')),
  anyPredicate: fc.oneof(
    { maxDepth: 4 },
    primitive,
    ...expressions(tie, 'anyPredicate'),
  ),
  valuePredicate: fc.oneof(
    { maxDepth: 4 },
    primitive,
    fc.record({ $exists: fc.boolean() }),
    fc.record({ $in: fc.array(primitive, { maxLength: 3 }) }),
    fc.record({ $hasPrefix: fc.string() }),
    fc.record({ $contains: tie('anyPredicate') }),
  ),
}));

/** JSON with the names of operators in any place. */
const { anyJson } = fc.letrec(tie => ({
  anyJson: fc.oneof(
    { maxDepth: 4 },
    primitive,
    fc.constant(null),
    fc.array(tie('anyJson'), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom(
        ...['$all', '$any', '$not', '$in', '$exists', '$contains', 'kind'],
      ),
      fc.oneof(tie('anyJson'), predicate, fc.array(predicate)),
      { maxKeys: 2 },
    ),
  ),
}));

function isAccepted(value: unknown): boolean {
  try {
    parseFilterPredicate(value);
    return true;
  } catch {
    return false;
  }
}

describe('isPredicate', () => {
  it('accepts every predicate', () => {
    fc.assert(fc.property(predicate, value => isPredicate(value)));
  });

  it('accepts only what Backstage accepts', () => {
    fc.assert(
      fc.property(
        fc.oneof(anyJson, predicate),
        value => !isPredicate(value) || isAccepted(value),
      ),
    );
  });

  it.each([
    null,
    [],
    'a',
    { $not: 'a' },
    { $all: [1] },
    { $any: [[]] },
    { $any: [], kind: 'a' },
    { $not: 'a', kind: 'a' },
    { $any: Array(101).fill({}) },
    { $not: null },
    { $gt: 1 },
    { 'a\nb': 1 },
    { kind: {} },
    { kind: [] },
    { kind: { $in: [{}] } },
    { kind: { $exists: 1 } },
    { kind: { $contains: { $any: [0, null] } } },
  ])('rejects %j', value => {
    expect(isPredicate(value)).toBe(false);
  });
});

describe('isEntityFilter', () => {
  const condition = { key: 'kind', values: ['user'] };

  it.each([
    { key: 'kind' },
    condition,
    { not: condition },
    { anyOf: [condition, { allOf: [] }] },
  ])('accepts %j', value => {
    expect(isEntityFilter(value)).toBe(true);
  });

  it.each([
    null,
    [],
    {},
    { key: 1 },
    { key: 'kind', values: [1] },
    { not: {} },
    { not: condition, anyOf: [0] },
    { anyOf: [0] },
    { allOf: [condition, { key: 1 }] },
  ])('rejects %j', value => {
    expect(isEntityFilter(value)).toBe(false);
  });
});

describe('isPermissionItem', () => {
  const permission = { type: 'basic', name: 'a', attributes: {} };
  const resource = { type: 'resource', resourceType: 'b', name: 'a' };

  it.each([
    { id: '1', permission },
    { id: '1', permission: { ...permission, attributes: { action: 'read' } } },
    { id: '1', resourceRef: 'c', permission: { ...permission, ...resource } },
    { id: '1', resourceRef: ['c'], permission: { ...permission, ...resource } },
  ])('accepts %j', value => {
    expect(isPermissionItem(value)).toBe(true);
  });

  it.each([
    0,
    null,
    {},
    { id: 0, permission },
    { id: '1', permission: { ...permission, attributes: { action: 0 } } },
    { id: '1', resourceRef: [0], permission },
  ])('rejects %j', value => {
    expect(isPermissionItem(value)).toBe(false);
  });
});
