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
export { raiseHeaderLimit, requiredHeaderBytes } from './headerLimit';
