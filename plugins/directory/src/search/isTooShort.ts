/** The fewest characters that the server looks for (`MatchText`). */
const SHORTEST = 3;

/** Whether something was typed, but too little for the server to look for. */
export function isTooShort(text: string): boolean {
  const { length } = Array.from(text.trim().replace(/\s+/g, ' '));
  return length > 0 && length < SHORTEST;
}
