import type { ComparePositions } from '../../changes/ChangeLog';

/** Compares positions whose values are numbers. */
export const comparePositions: ComparePositions = (from, to) => {
  if (from.server !== to.server) {
    return 'other';
  }
  const difference = Number(to.value) - Number(from.value);
  if (difference === 0) {
    return 'same';
  }
  return difference > 0 ? 'later' : 'earlier';
};
