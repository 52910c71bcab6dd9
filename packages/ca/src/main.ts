/** Runs the command line of `directory-ca`. */
export async function main(): Promise<void> {
  throw new Error('not implemented');
}
