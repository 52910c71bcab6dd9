import { createHash } from 'node:crypto';
import type { SigningRequest } from '@directory-gateway/backstage-plugin-directory-node';

/**
 * What a request has in common with its repetition: the authority, the user,
 * the profile, the key and the names. A client whose answer was lost sends the
 * same again; one that asks for other names wants another certificate.
 *
 * @returns SHA-256, lower-case hex
 */
export function requestKeyOf(
  request: SigningRequest,
  options: { readonly authorityId: string },
): string {
  const { emails, userPrincipalNames, kerberosPrincipalNames } =
    request.alternativeNames;
  // JSON keeps apart what a separator would not.
  const identity = JSON.stringify([
    options.authorityId,
    request.username,
    request.profile,
    request.publicKey.toString('base64'),
    emails,
    userPrincipalNames,
    kerberosPrincipalNames,
  ]);
  return createHash('sha256').update(identity).digest('hex');
}
