/**
 * Kerberos authentication (SPNEGO) as a service for Backstage backend plugins.
 *
 * @packageDocumentation
 */

export { kerberosServiceRef } from './kerberosServiceRef';
export type {
  KerberosAccepted,
  KerberosRefusalReason,
  KerberosRefused,
  KerberosResult,
  KerberosService,
  KerberosUnavailable,
} from './KerberosService';
export { SpnegoAcceptor } from './SpnegoAcceptor';
export type { SpnegoAcceptorOptions } from './SpnegoAcceptor';
export { readKerberosConfig } from './readKerberosConfig';
export type { KerberosConfig } from './readKerberosConfig';
export { raiseHeaderLimit } from './headerLimit';
export { MAX_TOKEN_BYTES } from './parseNegotiate';
export { isWebService } from './checkPrincipal';
export { claimKerberosEnvironment } from './claimKerberosEnvironment';
export { inspectKeytab } from './keytab';
export type { KeytabEntry, KeytabState } from './keytab';
export { testServiceKey } from './testServiceKey';
export type {
  ServiceKeyFault,
  ServiceKeyTest,
  TestServiceKeyOptions,
} from './testServiceKey';
