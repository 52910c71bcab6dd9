/**
 * Auth provider for Kerberos sign-in.
 *
 * @packageDocumentation
 */
export { authModuleKerberosProvider as default } from './module';
export { authModuleDirectoryOwnership } from './ownershipModule';
export { KERBEROS_PRINCIPAL_ANNOTATION } from './resolvers';
export type {
  AccountRefusalReason,
  SignInRefusalReason,
} from './UserPrincipal';
