import { describeCertificate, type FakeVersion } from './describeCertificate';
import type { FakeCa, FakeCertificate } from './FakeCa';

/** A FreeIPA error. */
export class FakeError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Parameters of a call. */
export interface FakeCall {
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
}

/** State of the server. */
export interface FakeServer {
  readonly ca: FakeCa;
  readonly version: FakeVersion;
  /** Whether Dogtag is stopped: Apache responds with 503. */
  readonly isDogtagDown: boolean;
  /** Names of the permissions of the gateway's account. */
  readonly permissions: readonly string[];
  /** CA ACLs as they are in the directory. */
  readonly rules: readonly Readonly<Record<string, readonly string[]>>[];
}

/** Permissions that the gateway needs (docs/freeipa.md). */
export const GATEWAY_PERMISSIONS = [
  'Request Certificate',
  'Retrieve Certificates from the CA',
  'System: Manage User Certificates',
  'Revoke Certificate',
];

/** FreeIPA's own CA ACL, and one for users. */
export const CA_ACLS: FakeServer['rules'] = [
  {
    cn: ['hosts_services_caIPAserviceCert'],
    ipaenabledflag: ['TRUE'],
    hostcategory: ['all'],
    servicecategory: ['all'],
    ipamembercertprofile: [profileDn('caIPAserviceCert')],
  },
  {
    cn: ['users'],
    ipaenabledflag: ['TRUE'],
    usercategory: ['all'],
    ipamembercertprofile: [profileDn('userCerts'), profileDn('otherCerts')],
    ipamemberca: ['cn=ipa,cn=cas,cn=ca,dc=example,dc=test'],
  },
];

function profileDn(name: string): string {
  return `cn=${name},cn=certprofiles,cn=ca,dc=example,dc=test`;
}

/** The certificate profiles; the CA ACLs permit all except `adminCerts`. */
const PROFILES = ['userCerts', 'otherCerts', 'adminCerts'];

/**
 * The users below `cn=accounts`: `carol` is locked, which `cert_request` does
 * not check. A preserved user is not below it, and therefore does not exist
 * here.
 */
const USERS = ['alice', 'bob', 'carol'];

/**
 * The checks of `cert_request.execute` that the tests need, in the same order.
 */
export async function certRequest(
  { args, options }: FakeCall,
  server: FakeServer,
): Promise<Record<string, unknown>> {
  const { ca, version } = server;
  const csr = Buffer.from(args[0], 'base64');
  const [username, realm] = String(options.principal).split('@');
  const profile = String(options.profile_id);
  caShow({ args: [String(options.cacn)], options: {} }, server);
  if (realm !== 'EXAMPLE.TEST') {
    throw new FakeError(4005, `The realm for the principal does not match`);
  }
  if (!USERS.includes(username)) {
    const message = "The principal for this request doesn't exist.";
    throw new FakeError(4001, message);
  }
  if (profile === 'adminCerts' || !PROFILES.includes(profile)) {
    throw new FakeError(
      2100,
      `Insufficient access: Principal '${options.principal}' is not permitted to use CA 'ipa' with profile '${profile}' for certificate issuance.`,
    );
  }
  const commonName = await ca.commonNameOf(csr).catch(() => {
    throw operationError(
      'Failure decoding Certificate Signing Request: Unable to load PEM file.',
    );
  });
  if (commonName !== username) {
    const message = "invalid 'csr': DN commonName does not match user's login";
    throw new FakeError(3009, message);
  }
  const { certificate } = await ca.issue({ csr, username });
  return {
    result: {
      ...describeCertificate({ certificate, chain: ca.shuffledChain, version }),
      request_id: '42',
      cert_request_status: 'complete',
    },
    value: '42',
    summary: null,
  };
}

/** `ca_show.execute`, which logs in to Dogtag to read the CA's certificate. */
export function caShow(
  { args: [cacn] }: FakeCall,
  { isDogtagDown }: FakeServer,
): Record<string, unknown> {
  requireCa(cacn);
  if (isDogtagDown) {
    throw new FakeError(4016, 'Failed to authenticate to CA REST API');
  }
  return { result: { cn: [cacn] }, value: cacn, summary: null };
}

/** `certprofile_show.execute`, which reads the directory only. */
export function certprofileShow({
  args: [name],
}: FakeCall): Record<string, unknown> {
  if (!PROFILES.includes(name)) {
    throw new FakeError(4001, `${name}: Certificate Profile not found`);
  }
  const result = { cn: [name], ipacertprofilestoreissued: [true] };
  return { result, value: name, summary: null };
}

/** `cert_show.execute`. */
export function certShow(
  { args, options }: FakeCall,
  { ca, version, isDogtagDown, permissions }: FakeServer,
): Record<string, unknown> {
  const serial = BigInt(args[0]);
  if (serial === 0n || args[0].length > 40) {
    const message = "invalid 'serial_number': invalid serial number 0";
    throw new FakeError(3009, message);
  }
  if (isDogtagDown) {
    throw operationError(describeDogtagStatus(503));
  }
  const entry = ca.issued.get(serial);
  if (!entry) {
    const id = `0x${serial.toString(16)}`;
    const text = describeDogtagStatus(404, `Certificate ID ${id} not found`);
    throw version === '4.9' ? operationError(text) : new FakeError(4001, text);
  }
  // FreeIPA checks the permission after it has read the certificate.
  if (!permissions.includes('Retrieve Certificates from the CA')) {
    throw new FakeError(
      2100,
      'Insufficient access: not allowed to perform operation: retrieve certificate',
    );
  }
  requireCa(options.cacn ?? 'ipa');
  return {
    result: {
      ...describeCertificate({
        certificate: entry.certificate,
        chain: ca.shuffledChain,
        version,
      }),
      ...describeState(entry),
      owner_user: [entry.username],
    },
    value: args[0],
    summary: null,
  };
}

/** `cert_revoke.execute`. */
export function certRevoke(
  call: FakeCall,
  server: FakeServer,
): Record<string, unknown> {
  certShow(call, server);
  const entry = server.ca.issued.get(BigInt(call.args[0]))!;
  if (entry.revocationReason !== undefined) {
    const text = `certificate 0x${BigInt(call.args[0]).toString(16)} has already been revoked`;
    throw server.version === '4.9'
      ? operationError(`Unable to communicate with CMS (${text})`)
      : new FakeError(4035, describeDogtagStatus(400, text));
  }
  entry.revocationReason = Number(call.options.revocation_reason);
  return { result: { revoked: true }, value: call.args[0], summary: null };
}

/** `cert_remove_hold.execute`. */
export function certRemoveHold(
  call: FakeCall,
  server: FakeServer,
): Record<string, unknown> {
  certShow(call, server);
  const entry = server.ca.issued.get(BigInt(call.args[0]))!;
  if (entry.revocationReason !== 6) {
    const result = {
      unrevoked: false,
      error_string: 'One or more certificates could not be unrevoked',
    };
    return { result, value: call.args[0], summary: null };
  }
  entry.revocationReason = undefined;
  return { result: { unrevoked: true }, value: call.args[0], summary: null };
}

/** `user_show.execute`: `bob` is an administrator through another group. */
export function userShow(
  { args: [uid], options }: FakeCall,
  { permissions }: FakeServer,
): Record<string, unknown> {
  if (options.raw) {
    const suffix = 'cn=permissions,cn=pbac,dc=example,dc=test';
    const memberof = permissions.map(name => `cn=${name},${suffix}`);
    return { result: { memberof }, value: uid, summary: null };
  }
  if (!USERS.includes(uid)) {
    throw new FakeError(4001, `${uid}: user not found`);
  }
  const result = {
    uid: [uid],
    memberof_group: ['ipausers'],
    ...(uid === 'bob' && { memberofindirect_group: ['admins'] }),
  };
  return { result, value: uid, summary: null };
}

/** `caacl_find.execute` with `raw`. */
export function caaclFind(
  _call: FakeCall,
  { rules }: FakeServer,
): Record<string, unknown> {
  return { result: rules, count: rules.length, truncated: false };
}

/** The part of `cert_find.execute` that `FreeIpaAuthority` uses. */
export function certFind(
  { options }: FakeCall,
  { ca, version, isDogtagDown }: FakeServer,
): Record<string, unknown> {
  if (isDogtagDown) {
    throw operationError('Unable to communicate with CMS (503)');
  }
  const found = [...ca.issued.values()].filter(entry =>
    isWanted(entry, options),
  );
  const limit = Number(options.sizelimit) || found.length;
  const result = found.slice(0, limit).map(entry => {
    const described = describeCertificate({
      certificate: entry.certificate,
      chain: ca.shuffledChain,
      version,
    });
    // The certificate itself is fetched from Dogtag only with `all`.
    const { certificate, certificate_chain, ...listed } = described;
    return {
      ...(options.all ? described : listed),
      ...describeState(entry),
      status: entry.revocationReason === undefined ? 'VALID' : 'REVOKED',
    };
  });
  return { result, count: result.length, truncated: false, summary: null };
}

/** A date stands for the midnight at its start. */
function isWanted(
  { username, issuedAt, certificate }: FakeCertificate,
  options: FakeCall['options'],
): boolean {
  const time = (name: string, fallback: number) =>
    name in options ? Date.parse(String(options[name])) : fallback;
  const end = certificate.validToDate.getTime();
  return (
    (options.subject ?? username) === username &&
    issuedAt.getTime() >= time('issuedon_from', 0) &&
    end >= time('validnotafter_from', 0) &&
    end <= time('validnotafter_to', Infinity)
  );
}

function describeState({ revocationReason }: FakeCertificate) {
  return revocationReason === undefined
    ? { revoked: false }
    : { revoked: true, revocation_reason: revocationReason };
}

/** CertificateOperationError. */
function operationError(text: string): FakeError {
  return new FakeError(
    4301,
    `Certificate operation cannot be completed: ${text}`,
  );
}

/** `ra.get_certificate` of FreeIPA 4.9 to 4.12 (`ipaserver/plugins/dogtag.py`). */
function describeDogtagStatus(status: number, explanation = ''): string {
  return `Request failed with status ${status}: Non-2xx response from CA REST API: ${status}. ${explanation} (${status})`;
}

function requireCa(cacn: unknown): void {
  if (cacn !== 'ipa') {
    throw new FakeError(4001, `${cacn}: Certificate Authority not found`);
  }
}
