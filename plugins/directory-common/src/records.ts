import type { components } from './generated/openapi';

/**
 * The authenticated principal: a user, a service or a host. Keys that do not
 * apply are `null`.
 *
 * @public
 */
export type Me = components['schemas']['Me'];

/**
 * A user with every field. A value that is not set, or hidden by a private
 * profile, is `null`.
 *
 * @public
 */
export type User = components['schemas']['User'];

/**
 * A user under a mask: any subset of {@link User}'s keys.
 *
 * @public
 */
export type MaskedUser = components['schemas']['MaskedUser'];

/**
 * A group with every field. A value that is not set is `null`.
 *
 * @public
 */
export type Group = components['schemas']['Group'];

/**
 * A group under a mask: any subset of {@link Group}'s keys, and `member_count`
 * if the mask names it (an extension of the contract).
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
 * A member or a sponsor of a group under a mask: any subset of {@link User}'s
 * keys but `locked`.
 *
 * @public
 */
export type MaskedMember = Omit<
  components['schemas']['MaskedMember'],
  'locked'
>;

/**
 * An agreement that a user has signed.
 *
 * @public
 */
export type Agreement = components['schemas']['Agreement'];

/**
 * A certificate with every field. Its serial number has up to 160 bits.
 *
 * @public
 */
export type Certificate = components['schemas']['Certificate'];

/**
 * A certificate under a mask: any subset of {@link Certificate}'s keys.
 *
 * @public
 */
export type MaskedCertificate = components['schemas']['MaskedCertificate'];

/**
 * A certificate profile, with every field: an extension of the contract.
 *
 * @public
 */
export type CertificateProfile = components['schemas']['CertificateProfile'];

/**
 * The body of `POST /certs/`: the user, a certificate request in PEM, and a
 * profile unless the configured default is used.
 *
 * @public
 */
export type SigningRequest = components['schemas']['SigningRequest'];

/**
 * The position of a page among all results; `page` counts from 1.
 *
 * @public
 */
export type PageInfo = components['schemas']['PageInfo'];

/**
 * The result of every rule for a signing request (`dry_run`).
 *
 * @public
 */
export type SigningCheck = components['schemas']['SigningCheck'];

/**
 * A group of a user, with every field, and the reason of the membership: an
 * extension of the contract.
 *
 * @public
 */
export type Membership = components['schemas']['Membership'];

/**
 * A group that is nested in another, with every field: an extension of the
 * contract.
 *
 * @public
 */
export type MemberGroup = components['schemas']['MemberGroup'];

/**
 * A nested group under a mask: any subset of {@link MemberGroup}'s keys, and
 * `member_count`.
 *
 * @public
 */
export type MaskedMemberGroup = components['schemas']['MaskedMemberGroup'];
