/**
 * A number for a sentence of the translation: `count` decides the plural,
 * `number` is what is read, in the reader's locale.
 */
export function counted(count: number): { count: number; number: string } {
  return { count, number: count.toLocaleString() };
}
