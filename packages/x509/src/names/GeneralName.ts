import { DistinguishedName } from './DistinguishedName';

/**
 * A Kerberos principal by its parts (RFC 4120 §§5.2.2, 6.2).
 *
 * @public
 */
export interface KerberosPrincipal {
  readonly realm: string;
  /** `NT-PRINCIPAL` is 1 (RFC 4120 §6.2). */
  readonly nameType: number;
  readonly components: readonly string[];
}

/**
 * An alternative name (RFC 5280 §4.2.1.6), told by its `kind`.
 *
 * - `rfc822Name`, `dnsName`, `uri`: ASCII without spaces
 * - `userPrincipalName`: Microsoft's UPN, `alice@EXAMPLE.TEST`
 * - `krb5PrincipalName`: `value` is the principal as Kerberos writes it, with `\` before an `@` or
 *   `/` inside of a part, so that unequal principals never read the same
 * - `ipAddress`: dotted, or in groups as RFC 5952 has it
 * - `registeredId`: dotted decimal
 * - `otherName`: of any other type
 * - `unsupported`: what nobody uses, or could not be read, by its tag number
 *
 * `base64` is the DER of an otherName's value.
 *
 * @public
 */
export type GeneralName =
  | {
      readonly kind:
        | 'rfc822Name'
        | 'dnsName'
        | 'uri'
        | 'ipAddress'
        | 'registeredId';
      readonly value: string;
    }
  | { readonly kind: 'directoryName'; readonly value: DistinguishedName }
  | {
      readonly kind: 'userPrincipalName';
      readonly value: string;
      readonly base64: string;
    }
  | {
      readonly kind: 'krb5PrincipalName';
      readonly value: string;
      readonly principal: KerberosPrincipal;
      readonly base64: string;
    }
  | {
      readonly kind: 'otherName';
      readonly oid: string;
      readonly base64: string;
    }
  | { readonly kind: 'unsupported'; readonly tagNumber: number };
