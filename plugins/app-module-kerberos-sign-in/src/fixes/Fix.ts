/** Something that a person can do to get in. */
export type Fix =
  /** Get a ticket, or another one. */
  | {
      readonly kind: 'ticket';
      readonly how: 'ticketType' | 'ticketWindows' | 'ticketElsewhere';
      readonly command?: string;
    }
  /** Let the browser send tickets here, by a command. */
  | { readonly kind: 'allowHost'; readonly command: string }
  /** The same in Firefox, which has a page for it. */
  | {
      readonly kind: 'allowHostInFirefox';
      /** The page's address. */
      readonly page: string;
      readonly preference: string;
      readonly value: string;
    }
  /** The same in a browser without a known command. */
  | { readonly kind: 'allowHostElsewhere'; readonly host: string }
  /** Set the clock. */
  | { readonly kind: 'clock'; readonly command?: string };
