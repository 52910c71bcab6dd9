import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { HttpResponse } from 'msw';
import { toPem } from '../certificates/pem';

/** 128-bit serial number, which a double cannot represent exactly. */
export const LONG_SERIAL = 340282366920938463463374607431768211454n;

const LEAF =
  'MIIBwDCCAWegAwIBAgIRAP////////////////////4wCgYIKoZIzj0EAwIwNzEVMBMGA1UECgwMRVhBTVBMRS5URVNUMR4wHAYDVQQDDBVDZXJ0aWZpY2F0ZSBBdXRob3JpdHkwHhcNMjYxMTIxMDIzOTU3WhcNNDYwMTIwMDIzOTU3WjAnMRUwEwYDVQQKDAxFWEFNUExFLlRFU1QxDjAMBgNVBAMMBWFsaWNlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE7/r3LlegxH7NT97VTQMJUen0mEIdj49YnUwzLiCMUBd3yizDPvRxrnBq0531yoOjbcRikooliYSPMN7CIThpdaNkMGIwCwYDVR0PBAQDAgeAMBMGA1UdJQQMMAoGCCsGAQUFBwMCMB0GA1UdDgQWBBQ2gIQ7lN6QenNcxvSdZHahA8qJ3TAfBgNVHSMEGDAWgBT/vuLnW49ocdXFb/jahKlAsDNDlTAKBggqhkjOPQQDAgNHADBEAiAsTx9S6HTjMsXHi80Hg9KC7KHNTT5IntGLoLOgRoKxJgIgHW9sHBIs9tsJlQdChysyByVEreZ3E4DSU4lQQ4wIj14=';

const ISSUER =
  'MIIBwzCCAWmgAwIBAgIUBYU3z7qKhjZxAqLeIVWRD44ArhIwCgYIKoZIzj0EAwIwNzEVMBMGA1UECgwMRVhBTVBMRS5URVNUMR4wHAYDVQQDDBVDZXJ0aWZpY2F0ZSBBdXRob3JpdHkwHhcNMjYxMTIxMDIzOTU3WhcNNDYxMTE2MDIzOTU3WjA3MRUwEwYDVQQKDAxFWEFNUExFLlRFU1QxHjAcBgNVBAMMFUNlcnRpZmljYXRlIEF1dGhvcml0eTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABArulKiuD3fiUrQdl+DlGAIWsRL0KSauz4JHMAp3v1NTU5X5VrzAlG80vOcRxpkyh8uIpg4zH/yb3Agg8NuA+AKjUzBRMB0GA1UdDgQWBBT/vuLnW49ocdXFb/jahKlAsDNDlTAfBgNVHSMEGDAWgBT/vuLnW49ocdXFb/jahKlAsDNDlTAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIEt3cl6ZlcElUWYLcsrDYiSiSIVx0PuE93oyUgzE/kMZAiEAn0e7VsjsykOILJN80eVqcXaATyXUBl0Aodmnc7bpY/Q=';

/** Certificate of alice with a long serial number, created with OpenSSL. */
export function certificate(given: Partial<Certificate> = {}): Certificate {
  return {
    cacn: 'embedded',
    certificate: toPem('CERTIFICATE', LEAF),
    certificate_chain: [LEAF, ISSUER],
    issuer: 'CN=Certificate Authority,O=EXAMPLE.TEST',
    revoked: false,
    san_other: null,
    san_other_kpn: null,
    san_other_upn: null,
    serial_number: LONG_SERIAL,
    serial_number_hex: `0x${LONG_SERIAL.toString(16).toUpperCase()}`,
    sha1_fingerprint:
      '49:6c:fa:06:3c:0e:74:06:2a:07:49:9d:0f:04:45:d5:e1:20:d4:33',
    sha256_fingerprint:
      'af:a3:dd:2d:d4:55:f3:42:08:a3:9d:b1:8b:9d:2d:23:5d:a3:8d:23:c1:ce:2e:d7:87:b8:ad:09:30:d4:2b:b9',
    subject: 'CN=alice,O=EXAMPLE.TEST',
    valid_not_after: 'Fri, 06 May 2022 06:22:53 -0000',
    valid_not_before: 'Tue, 05 May 2020 06:22:53 -0000',
    san_rfc822name: null,
    san_dnsname: null,
    san_uri: null,
    san_ipaddress: null,
    san_directoryname: null,
    san_oid: null,
    owner_user: ['alice'],
    revocation_reason: null,
    label: null,
    extended_key_usage: ['clientAuth'],
    profile: 'userCerts',
    revoked_at: null,
    issued_here: true,
    uri: `http://localhost:7007/api/directory/v1/certs/${LONG_SERIAL}/`,
    ...given,
  };
}

/** Response with exact integers, as the API sends them. */
export function exactJson(body: unknown): Response {
  const text = JSON.stringify(body, (_, value) =>
    typeof value === 'bigint' ? `${value}n` : value,
  );
  return new HttpResponse(text.replace(/"(\d+)n"/g, '$1'), {
    headers: { 'Content-Type': 'application/json' },
  });
}

const DAY = 24 * 60 * 60 * 1000;

/** Returns the time `days` days from now, in the format of the API. */
export function rfc822(days: number): string {
  const date = new Date(Date.now() + days * DAY);
  return date.toUTCString().replace('GMT', '-0000');
}
