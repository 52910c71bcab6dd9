import { CustomErrorBase } from '@backstage/errors';

/** This node may not sign, and why; the message is for the log. */
export class KeyRefusedError extends CustomErrorBase {
  name = 'KeyRefusedError' as const;
}
