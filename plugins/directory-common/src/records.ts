import type { components } from './generated/openapi';

type Schemas = components['schemas'];

/**
 * The authenticated principal, as `/me/` answers without a mask: a user, a
 * service or a host. Keys that do not apply are `null`.
 *
 * @public
 */
export type Me = Schemas['Me'];

/**
 * The authenticated principal under a mask: any subset of {@link Me}'s keys.
 *
 * @public
 */
export type MaskedMe = Schemas['MaskedMe'];

/**
 * A user with every field. A value that is missing, or that a private profile
 * hides from the caller, is `null`.
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
 * A group with every field. A missing value is `null`.
 *
 * @public
 */
export type Group = Schemas['Group'];

/**
 * A group under a mask: any subset of {@link Group}'s keys, and `member_count`,
 * which only a mask that names it brings (an extension of the contract).
 *
 * @public
 */
export type MaskedGroup = Schemas['MaskedGroup'];

/**
 * A member or a sponsor of a group, as answered without a mask.
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
 * A group of a user, as answered without a mask; a mask makes it a
 * {@link MaskedGroup}.
 *
 * @public
 */
export type UserGroupItem = Schemas['UserGroupItem'];

/**
 * An agreement that a user has signed.
 *
 * @public
 */
export type Agreement = Schemas['Agreement'];

/**
 * An agreement under a mask: any subset of {@link Agreement}'s keys.
 *
 * @public
 */
export type MaskedAgreement = Schemas['MaskedAgreement'];

/**
 * A certificate with every field. Its serial number has up to 128 bits.
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
 * A certificate profile under a mask: any subset of
 * {@link CertificateProfile}'s keys.
 *
 * @public
 */
export type MaskedCertificateProfile = Schemas['MaskedCertificateProfile'];

/**
 * What `POST /certs/` is asked: the user, a PEM request, and a profile unless
 * the configured default will do.
 *
 * @public
 */
export type SigningRequest = Schemas['SigningRequest'];

/**
 * Where a page stands among all results; `page` counts from 1.
 *
 * @public
 */
export type PageInfo = Schemas['PageInfo'];

/**
 * How every rule comes out for a request to sign (`dry_run`).
 *
 * @public
 */
export type SigningVerdict = Schemas['SigningVerdict'];

/**
 * The stable name of a rule that must hold before a certificate is signed.
 *
 * @public
 */
export type SigningRule = Schemas['SigningRule'];

/**
 * A group that a user is in, with every field, and why they are in it: an
 * extension of the contract.
 *
 * @public
 */
export type Membership = Schemas['Membership'];

/**
 * A membership under a mask: any subset of {@link Membership}'s keys, and
 * `member_count`.
 *
 * @public
 */
export type MaskedMembership = Schemas['MaskedMembership'];

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
