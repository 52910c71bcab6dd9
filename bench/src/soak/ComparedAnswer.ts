/** An answer as it is compared: without what is a server's own. */
export interface ComparedAnswer {
  readonly status: number;
  readonly text: string;
}
