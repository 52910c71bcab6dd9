import { spawnSync } from 'node:child_process';
import { decideForAlice } from '../__testUtils__/decideForAlice';
import { readFixture, readManifest } from '../__testUtils__/readManifest';
import { readCertificateRequest } from './readCertificateRequest';
import { refusalMessages } from '../refusals/RequestRefusal';

const rows = readManifest();

/** Codes of refusals by the parser; policy refuses the other files. */
const CODES: Record<string, string> = {
  'enc-cn-universal.pem': 'subject_string_type',
  'enc-cn-teletex.pem': 'subject_string_type',
  'enc-cn-ia5.pem': 'subject_string_type',
  'key-rsa2047.pem': 'key_size',
  'key-rsa2048-e3.pem': 'key_exponent',
  'key-rsa-e1.pem': 'key_exponent',
  'key-rsa-e-huge.pem': 'key_exponent',
  'key-rsa-even-modulus.pem': 'key_modulus',
  'key-rsa-neg-modulus.pem': 'malformed',
  'key-rsa-small-factor.pem': 'key_modulus',
  'key-rsa-roca.pem': 'key_roca',
  'key-rsapss-oid.pem': 'unsupported_key',
  'key-p256-explicit.pem': 'unsupported_curve',
  'key-p256-infinity.pem': 'invalid_point',
  'key-p256-noparams.pem': 'unsupported_curve',
  'sig-bad-ec.pem': 'bad_signature',
  'sig-bad-rsa.pem': 'bad_signature',
  'sig-subject-swapped.pem': 'bad_signature',
  'sig-empty.pem': 'bad_signature',
  'sig-ec-r0s0.pem': 'bad_signature',
  'sig-ec-trailing.pem': 'bad_signature',
  'sig-alg-mismatch.pem': 'signature_algorithm_mismatch',
  'sig-rsa-md5.pem': 'weak_signature_algorithm',
  'sig-forged-e3-trailing.pem': 'key_exponent',
  'sig-forged-e3-third-element.pem': 'key_exponent',
  'sig-forged-e3-alg-params.pem': 'key_exponent',
  'subj-nul-prefix.pem': 'subject_characters',
  'subj-empty-cn.pem': 'subject_characters',
  'subj-2000-rdns.pem': 'too_complex',
  'subj-cn-bitstring.pem': 'subject_string_type',
  'subj-cn-sequence.pem': 'subject_string_type',
  'ext-ca-true.pem': 'ca_requested',
  'ext-ca-true-ber.pem': 'bad_extension',
  'ext-san-ip-badlen.pem': 'bad_alternative_name',
  'ext-san-email-nul.pem': 'bad_alternative_name',
  'ext-san-5000.pem': 'too_large',
  'ext-extreq-two-values.pem': 'bad_attributes',
  'ext-unknown-critical.pem': 'unknown_critical_extension',
  'attr-5000.pem': 'too_large',
  'asn1-version1.pem': 'bad_version',
  'asn1-version-neg.pem': 'bad_version',
  'asn1-trailing.pem': 'trailing_data',
  'asn1-truncated.pem': 'malformed',
  'asn1-nonminimal-len.pem': 'malformed',
  'asn1-len-64bit.pem': 'malformed',
  'asn1-deep-10k.pem': 'too_complex',
  'asn1-deep-indef-100k.pem': 'too_large',
  'asn1-deep-set-20k.pem': 'too_large',
  'asn1-nested-bitstrings.pem': 'bad_signature',
  'asn1-huge-oid.pem': 'too_large',
  'asn1-oid-overflow.pem': 'unsupported_signature_algorithm',
  'pem-header-only.pem': 'no_request',
  'pem-two-csrs.pem': 'several_blocks',
  'pem-cert-under-csr-label.pem': 'not_a_request',
  'pem-bad-base64.pem': 'bad_base64',
  'pem-base64url.pem': 'url_safe_base64',
  'pem-encrypted-headers.pem': 'encrypted_block',
  'pem-regex-bomb.pem': 'too_large',
  'pem-dashes-bomb.pem': 'too_large',
  'pem-null-bytes.pem': 'not_text',
  'pem-der-binary.der': 'not_text',
  'pem-html-escaped.txt': 'escaped_text',
  'pem-plus-as-space.txt': 'lost_plus',
  'pem-escaped-newlines.txt': 'escaped_text',
  'size-1mb-attr.pem': 'too_large',
};

it.each(rows)('$expected: $file ($description)', ({ file, expected }) => {
  const result = readCertificateRequest(readFixture(file));
  expect(result.ok ? undefined : result.code).toBe(CODES[file]);
  expect(result.ok ? decideForAlice(result.csr) : 'reject').toBe(expected);
});

it('does not crash a process that passes every accepted key to OpenSSL', () => {
  const child = spawnSync(
    process.execPath,
    [
      '--require',
      require.resolve('@backstage/cli-node/config/nodeTransform.cjs'),
      require.resolve('../__testUtils__/readManifestMain'),
    ],
    { encoding: 'utf8' },
  );
  expect(child).toMatchObject({ status: 0, signal: null });
  expect(JSON.parse(child.stdout)).toEqual(
    rows.map(({ file }) => CODES[file] ?? 'read'),
  );
});

it('has a different message for every refusal', () => {
  const messages = Object.values(refusalMessages);
  expect(new Set(messages).size).toBe(messages.length);
  for (const message of messages) {
    expect(message).toMatch(/^[A-Z].*\.$/);
  }
});
