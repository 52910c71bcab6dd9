import type { ResolvedOptions } from '../RealmOptions';

/** What one can do to the directory server of a running realm. */
export type DirectoryAction = 'stop' | 'start' | 'kill' | 'pause' | 'resume';

/** From the caller to the supervisor. */
export type Request =
  | { type: 'start'; options: ResolvedOptions }
  | { type: 'directory'; id: number; action: DirectoryAction }
  | { type: 'stop' };

/** From the supervisor to the caller. */
export type Report =
  | { type: 'progress'; step: string }
  | { type: 'ready'; facts: RealmFacts }
  | { type: 'failed'; message: string }
  | { type: 'done'; id: number; error?: string };

/** What only the supervisor knows about the realm that it has started. */
export interface RealmFacts {
  dir: string;
  ldapPort: number;
  ldapsPort: number;
}

/** Whether a message from the channel is one of ours; loaders send others. */
export function isTyped(message: unknown): message is { type: string } {
  return typeof message === 'object' && message !== null && 'type' in message;
}
