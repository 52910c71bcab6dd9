/**
 * What must hold before a certificate is signed, in the order in which FreeIPA
 * asks (`ipaserver/plugins/cert.py`).
 */
export const signingRules = [
  /** The user for whom it is exists and is in use. */
  'principal',
  /** Whoever asks may ask for this user. */
  'requester',
  /** The profile is offered, and to this user. */
  'profile',
  /** The request can be read, proves its key, and has a sound one. */
  'request',
  /** The key was not revoked for `keyCompromise`. */
  'key',
  /** Exactly one common name: the user name, to the letter. */
  'common_name',
  /** E-mail addresses in the subject are the user's. */
  'email_address',
  /** E-mail addresses among the alternative names are the user's. */
  'rfc822_name',
  /** Principal names among the alternative names are the user's. */
  'principal_name',
  /** There is no alternative name of another kind. */
  'other_name',
] as const;

/** The stable name of a rule. */
export type SigningRule = (typeof signingRules)[number];

/** How one rule came out. */
export interface RuleVerdict {
  readonly rule: SigningRule;
  /** `undefined` when it was not evaluated. */
  readonly passed: boolean | undefined;
  /** A sentence for whoever asks. */
  readonly message: string;
  /** Of a rule that failed: whether the request is wrong or not theirs to make. */
  readonly refusal?: 'invalid' | 'forbidden';
}

/** A verdict that something holds. */
export function pass(rule: SigningRule, message: string): RuleVerdict {
  return { rule, passed: true, message };
}

/** A verdict that the request is wrong. */
export function fail(rule: SigningRule, message: string): RuleVerdict {
  return { rule, passed: false, message, refusal: 'invalid' };
}

/** A verdict that the request is somebody else's to make. */
export function forbid(rule: SigningRule, message: string): RuleVerdict {
  return { rule, passed: false, message, refusal: 'forbidden' };
}

/** A verdict of a rule that was not evaluated. */
export function skip(rule: SigningRule): RuleVerdict {
  return { rule, passed: undefined, message: 'Not checked.' };
}
