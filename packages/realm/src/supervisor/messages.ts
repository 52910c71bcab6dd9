import type { ResolvedOptions } from '../RealmOptions';

/** Action on the directory server of a running realm. */
export type DirectoryAction = 'stop' | 'start' | 'kill' | 'pause' | 'resume';

/** Action on the KDC of a running realm. */
export type KdcAction = 'stop' | 'start';

/** Message to the supervisor: start the realm, stop it, or act on a server. */
export type Request = { readonly id: number } & RequestContent;

export type RequestContent =
  | { readonly start: ResolvedOptions }
  | { readonly directory: DirectoryAction }
  | { readonly kdc: KdcAction }
  | { readonly end: true };

/** Message to the caller: progress of the start, or the result of a request. */
export type Report =
  | { readonly progress: string }
  | {
      readonly id: number;
      /** Result of a start. */
      readonly facts?: RealmFacts;
      readonly error?: string;
    };

/** Values that are known only after a start. */
export interface RealmFacts {
  readonly dir: string;
  readonly ldapPort: number;
  readonly ldapsPort: number;
}
