/**
 * Waits for work no longer than a deadline. The work itself goes on: whoever
 * starts it must bear that nobody waits for its end.
 */
export async function withDeadline<T>(
  work: Promise<T>,
  deadline: { readonly ms: number; readonly error: () => Error },
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(deadline.error()), deadline.ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    // The loser of the race may reject later; it has been answered for.
    work.catch(() => {});
  }
}
