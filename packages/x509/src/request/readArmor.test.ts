import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { buildRequest } from '../__testUtils__/buildRequest';
import { RequestRefusal } from '../refusals/RequestRefusal';
import { readArmor } from './readArmor';
import { writePem } from '../der/pem';

const der = buildRequest();
const pem = writePem('CERTIFICATE REQUEST', der);
const base64 = der.toString('base64');
const BEGIN = '-----BEGIN CERTIFICATE REQUEST-----';
const END = '-----END CERTIFICATE REQUEST-----';

/** Encodes text in little-endian UTF-16 with a byte order mark. */
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');

function codeOf(text: string): string {
  try {
    readArmor(text);
    return 'read';
  } catch (error) {
    return error instanceof RequestRefusal ? error.code : `threw ${error}`;
  }
}

/** Returns the Base64 text in lines of the given length. */
function linesOf(length: number): string[] {
  return base64.match(new RegExp(`.{1,${length}}`, 'g')) ?? [];
}

describe('readArmor', () => {
  it.each([
    ['old Mac line breaks', pem.replace(/\n/g, '\r')],
    ['no final line break', pem.trimEnd()],
    ['empty lines', pem.replace(/\n/g, '\n\n')],
    ['trailing spaces', pem.replace(/\n/g, '  \t\n')],
    ['indentation with tabs', pem.replace(/^/gm, '\t')],
    ['UTF-16 that was read as UTF-8', utf16(pem).toString()],
    [
      'big-endian UTF-16 that was read as UTF-8',
      utf16(pem).swap16().toString(),
    ],
    [
      'text before the block, as from openssl req -text',
      `Certificate Request:\n  Subject: CN = ä\n${pem}bye\n`,
    ],
    ['MIME line lengths', [BEGIN, ...linesOf(76), END].join('\n')],
    ['one long line', [BEGIN, base64, END].join('\n')],
    ['line breaks that became spaces', pem.replace(/\n/g, ' ')],
    ['no line breaks', pem.replace(/\n/g, '')],
    ['no armor, in lines', linesOf(64).join('\n')],
    ['no armor, on one line with spaces', linesOf(64).join(' ')],
  ])('accepts %s', (_, text) => {
    expect(readArmor(text)).toEqual(der);
  });

  it('accepts a block with any line lengths, white space and text around it', () => {
    const around = fc
      .string({ unit: 'grapheme' })
      .filter(text => !/BEGIN|END|PuTTY|\0/.test(text));
    const space = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r') });
    fc.assert(
      fc.property(
        around,
        around,
        space,
        fc.integer({ min: 1, max: 100 }),
        (before, after, gap, length) => {
          const body = linesOf(length).join(`${gap}\n${gap}`);
          expect(
            readArmor(
              `${before}\n${BEGIN}\n${gap}${body}${gap}\n${END}${after}`,
            ),
          ).toEqual(der);
        },
      ),
    );
  });
});

describe('refusals of readArmor', () => {
  const unpadded = 'MAA';
  it.each([
    ['no_request', ''],
    ['no_request', ' \r\n\t'],
    ['no_request', END],
    ['several_blocks', `${pem}${BEGIN}`],
    ['several_blocks', `${pem}${END}`],
    ['several_blocks', pem + writePem('CERTIFICATE', der)],
    ['other_block', writePem('CERTIFICATE', der)],
    ['other_block', writePem('PUBLIC KEY', der)],
    ['other_block', '-----BEGIN '],
    ['other_block', `-----BEGIN ${'A'.repeat(60_000)}`],
    ['incomplete_block', `${BEGIN}\n${base64}`],
    ['incomplete_block', pem.replace('END CERTIFICATE', 'END NEW CERTIFICATE')],
    [
      'incomplete_block',
      pem.replace('END CERTIFICATE REQUEST-----', 'END CERTIFICATE REQUEST---'),
    ],
    ['bad_base64', `${BEGIN}\n${base64.slice(0, -1)}\n${END}`],
    ['bad_base64', unpadded],
    ['bad_base64', 'MA==MA=='],
    ['bad_base64', 'MB=='],
    ['no_request', 'just some words, no request'],
    ['private_key', utf16(writePem('PRIVATE KEY', der)).toString()],
  ])('%s', (code, text) => {
    expect(codeOf(text)).toBe(code);
  });

  it('returns DER or a refusal for any text', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        BEGIN,
        END,
        base64,
        '-----',
        'BEGIN ',
        'PRIVATE KEY',
        '\n',
        ' ',
        '=',
        '\0',
        ':',
      ),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(fc.array(piece), pieces => {
        expect(codeOf(pieces.join(''))).not.toMatch(/^threw/);
      }),
    );
  });
});

describe('private keys', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const encrypted = privateKey
    .export({
      type: 'pkcs8',
      format: 'pem',
      cipher: 'aes-256-cbc',
      passphrase: 'x',
    })
    .toString();

  it.each([
    ['of PKCS #8', pkcs8],
    ['of PKCS #8, encrypted', encrypted],
    [
      'of PKCS #1',
      privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
    ],
    ['of SEC 1', ec.export({ type: 'sec1', format: 'pem' }).toString()],
    ['of OpenSSH', writePem('OPENSSH PRIVATE KEY', der)],
    ['of SSH.com', '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nAAAA'],
    ['of PuTTY', 'PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none'],
    ['after a valid request', pem + pkcs8],
    ['before a valid request', pkcs8 + pem],
    ['that is truncated', pkcs8.slice(0, 200)],
    ['with escaped line breaks', JSON.stringify(pkcs8)],
    ['without dashes', pkcs8.replace(/-/g, '')],
    ['in lower case', pkcs8.toLowerCase()],
    ['inside a block', `${BEGIN}\n${pkcs8}\n${END}`],
  ])('detects a private key %s', (_, text) => {
    expect(codeOf(text)).toBe('private_key');
  });

  it('accepts text that mentions private keys', () => {
    expect(codeOf(`Made with the private key of alice\n${pem}`)).toBe('read');
  });
});
