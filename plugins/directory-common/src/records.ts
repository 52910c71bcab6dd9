import type { components } from './generated/openapi';

type Schemas = components['schemas'];

/**
 * The authenticated principal: a user, a service or a host. Keys that do not
 * apply are `null`.
 *
 * @public
 */
export type Me = Schemas['Me'];

/**
 * A user with every field. A value that is not set, or hidden by a private
 * profile, is `null`.
 *
 * @public
 */
export type User = Schemas['User'];

/**
 * A user under a mask: any subset of {@link User}'s keys.
 *
 * @public
 */
export type MaskedUser = Schemas['MaskedUser'];

/**
 * A group with every field. A value that is not set is `null`.
 *
 * @public
 */
export type Group = Schemas['Group'];

/**
 * A group under a mask: any subset of {@link Group}'s keys, and `member_count`
 * if the mask names it (an extension of the contract).
 *
 * @public
 */
export type MaskedGroup = Schemas['MaskedGroup'];

/**
 * A member or a sponsor of a group, without a mask.
 *
 * @public
 */
export type MemberItem = Schemas['MemberItem'];

/**
 * A member or a sponsor of a group under a mask: any subset of {@link User}'s
 * keys but `locked`.
 *
 * @public
 */
export type MaskedMember = Omit<Schemas['MaskedMember'], 'locked'>;

/**
 * An agreement that a user has signed.
 *
 * @public
 */
export type Agreement = Schemas['Agreement'];

/**
 * A certificate with every field. Its serial number has up to 160 bits.
 *
 * @public
 */
export type Certificate = Schemas['Certificate'];

/**
 * A certificate under a mask: any subset of {@link Certificate}'s keys.
 *
 * @public
 */
export type MaskedCertificate = Schemas['MaskedCertificate'];

/**
 * A certificate profile, with every field: an extension of the contract.
 *
 * @public
 */
export type CertificateProfile = Schemas['CertificateProfile'];

/**
 * The body of `POST /certs/`: the user, a certificate request in PEM, and a
 * profile unless the configured default is used.
 *
 * @public
 */
export type SigningRequest = Schemas['SigningRequest'];

/**
 * The position of a page among all results; `page` counts from 1.
 *
 * @public
 */
export type PageInfo = Schemas['PageInfo'];

/**
 * The result of every rule for a signing request (`dry_run`).
 *
 * @public
 */
export type SigningCheck = Schemas['SigningCheck'];

/**
 * A group of a user, with every field, and the reason of the membership: an
 * extension of the contract.
 *
 * @public
 */
export type Membership = Schemas['Membership'];

/**
 * A group that is nested in another, with every field: an extension of the
 * contract.
 *
 * @public
 */
export type MemberGroup = Schemas['MemberGroup'];

/**
 * A nested group under a mask: any subset of {@link MemberGroup}'s keys, and
 * `member_count`.
 *
 * @public
 */
export type MaskedMemberGroup = Schemas['MaskedMemberGroup'];
