import type { components } from './generated/openapi';

/**
 * The authenticated principal: a user, a service or a host. Keys that do not
 * apply are `null`.
 *
 * @public
 */
export type Me = components['schemas']['Me'];

/**
 * A user with all fields. Values that are not set or hidden by a private
 * profile are `null`.
 *
 * @public
 */
export type User = components['schemas']['User'];

/**
 * A user with a mask: any subset of the keys of {@link User}.
 *
 * @public
 */
export type MaskedUser = components['schemas']['MaskedUser'];

/**
 * A group with all fields. Values that are not set are `null`.
 *
 * @public
 */
export type Group = components['schemas']['Group'];

/**
 * A group with a mask: any subset of the keys of {@link Group}, and
 * `member_count` if the mask contains it (an extension of the contract).
 *
 * @public
 */
export type MaskedGroup = components['schemas']['MaskedGroup'];

/**
 * A member or a sponsor of a group, without a mask.
 *
 * @public
 */
export type MemberItem = components['schemas']['MemberItem'];

/**
 * A member or a sponsor of a group with a mask: any subset of the keys of
 * {@link User} except `locked`.
 *
 * @public
 */
export type MaskedMember = Omit<
  components['schemas']['MaskedMember'],
  'locked'
>;

/**
 * An agreement signed by a user.
 *
 * @public
 */
export type Agreement = components['schemas']['Agreement'];

/**
 * A certificate with all fields. Its serial number has up to 160 bits.
 *
 * @public
 */
export type Certificate = components['schemas']['Certificate'];

/**
 * A certificate with a mask: any subset of the keys of {@link Certificate}.
 *
 * @public
 */
export type MaskedCertificate = components['schemas']['MaskedCertificate'];

/**
 * A certificate profile with all fields: an extension of the contract.
 *
 * @public
 */
export type CertificateProfile = components['schemas']['CertificateProfile'];

/**
 * Body of `POST /certs/`: the user, a CSR in PEM, and optionally a profile.
 * Defaults to the configured profile.
 *
 * @public
 */
export type SigningRequest = components['schemas']['SigningRequest'];

/**
 * Position of a page in the results. `page` starts at 1.
 *
 * @public
 */
export type PageInfo = components['schemas']['PageInfo'];

/**
 * Result of each rule for a signing request (`dry_run`).
 *
 * @public
 */
export type SigningCheck = components['schemas']['SigningCheck'];

/**
 * A group of a user with all fields and the reason for the membership: an
 * extension of the contract.
 *
 * @public
 */
export type Membership = components['schemas']['Membership'];

/**
 * A group nested in another group, with all fields: an extension of the
 * contract.
 *
 * @public
 */
export type MemberGroup = components['schemas']['MemberGroup'];

/**
 * A nested group with a mask: any subset of the keys of {@link MemberGroup},
 * and `member_count`.
 *
 * @public
 */
export type MaskedMemberGroup = components['schemas']['MaskedMemberGroup'];
