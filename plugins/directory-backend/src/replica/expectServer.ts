/**
 * Numbers mean something else on another server.
 *
 * @throws Error when an answer is not the server's of which something is known
 */
export function expectServer(
  answer: { readonly server: string },
  known: { readonly server: string },
): void {
  if (answer.server !== known.server) {
    throw new Error('Another server has answered');
  }
}
