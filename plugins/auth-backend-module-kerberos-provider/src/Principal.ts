import { SignInRefusal } from './SignInRefusal';

/** A person's principal: `alice` of `EXAMPLE.TEST`. */
export interface Principal {
  /** `alice@EXAMPLE.TEST`. */
  readonly principal: string;
  /** `alice`. */
  readonly name: string;
  /** `EXAMPLE.TEST`. */
  readonly realm: string;
}

/** One component and a realm (RFC 1964 §2.1.1), with nothing escaped. */
const PERSON = /^(?<name>[^\\/@]+)@(?<realm>[^\\/@]+)$/;

/**
 * Reads a person's principal. Names of several components belong to services,
 * hosts and administrative instances (RFC 4120 §6.2), who do not sign in.
 *
 * @throws SignInRefusal with `service_principal` or `unusable_name`
 */
export function parsePrincipal(principal: string): Principal {
  const groups = PERSON.exec(principal)?.groups;
  if (!groups) {
    throw new SignInRefusal(
      // An escaped slash is part of a name, not a separator.
      principal.replace(/\\./g, '').includes('/')
        ? 'service_principal'
        : 'unusable_name',
    );
  }
  return { principal, name: groups.name, realm: groups.realm };
}
