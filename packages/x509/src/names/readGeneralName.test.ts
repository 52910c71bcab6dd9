import {
  buildRequest,
  extension,
  extensionRequest,
  requestNames,
  subject,
} from '../__testUtils__/buildRequest';
import { outcomeOf, requestOf } from '../__testUtils__/outcomeOf';
import { int, NULL, oid, seq, text, tlv } from '../__testUtils__/tlv';

describe('alternative names', () => {
  const other = (type: string, value: Buffer) =>
    tlv(0xa0, oid(type), tlv(0xa0, value));
  const principal = (options: {
    realm?: Buffer;
    type?: Buffer;
    components?: readonly Buffer[];
    more?: Buffer;
  }) =>
    other(
      'krb5PrincipalName',
      seq(
        tlv(0xa0, options.realm ?? text(0x1b, 'EXAMPLE.TEST')),
        tlv(
          0xa1,
          seq(
            tlv(0xa0, options.type ?? int(1n)),
            tlv(0xa1, seq(...(options.components ?? [text(0x1b, 'alice')]))),
          ),
        ),
        options.more ?? Buffer.alloc(0),
      ),
    );

  it.each<[string, Buffer, object]>([
    [
      'an address',
      text(0x81, 'a@example.test'),
      { kind: 'rfc822Name', value: 'a@example.test' },
    ],
    [
      'a host',
      text(0x82, 'example.test'),
      { kind: 'dnsName', value: 'example.test' },
    ],
    ['a URI', text(0x86, 'https://a/'), { kind: 'uri', value: 'https://a/' }],
    [
      'an IPv4 address',
      tlv(0x87, Buffer.of(127, 0, 0, 1)),
      { kind: 'ipAddress', value: '127.0.0.1' },
    ],
    [
      'an IPv6 address',
      tlv(0x87, Buffer.alloc(16)),
      { kind: 'ipAddress', value: '::' },
    ],
    [
      'an OID',
      tlv(0x88, Buffer.of(0x2a, 3)),
      { kind: 'registeredId', value: '1.2.3' },
    ],
    [
      'a name',
      tlv(0xa4, subject(['commonName', 'admin'])),
      { kind: 'directoryName', value: { text: 'CN=admin' } },
    ],
    ['an X.400 address', tlv(0xa3), { kind: 'unsupported' }],
    ['an EDI party name', tlv(0xa5), { kind: 'unsupported' }],
    [
      'a UPN',
      other('userPrincipalName', text(0x0c, 'a@R')),
      { kind: 'userPrincipalName', value: 'a@R', base64: 'DANhQFI=' },
    ],
    [
      'another otherName',
      other('1.2.3', NULL),
      { kind: 'otherName', oid: '1.2.3', base64: 'BQA=' },
    ],
    [
      'a principal',
      principal({}),
      {
        kind: 'krb5PrincipalName',
        value: 'alice@EXAMPLE.TEST',
        principal: {
          realm: 'EXAMPLE.TEST',
          nameType: 1,
          components: ['alice'],
        },
      },
    ],
    [
      'a service',
      principal({ components: [text(0x1b, 'host'), text(0x1b, 'a')] }),
      { value: 'host/a@EXAMPLE.TEST' },
    ],
    [
      'a component with the text of a principal',
      principal({
        realm: text(0x1b, 'EVIL.TEST'),
        components: [text(0x1b, 'alice@EXAMPLE.TEST')],
      }),
      { value: 'alice\\@EXAMPLE.TEST@EVIL.TEST' },
    ],
    [
      'a component with a separator',
      principal({ components: [text(0x1b, 'host/a')] }),
      { value: 'host\\/a@EXAMPLE.TEST' },
    ],
    [
      'a realm with a separator',
      principal({ realm: text(0x1b, 'A@B') }),
      { value: 'alice@A\\@B' },
    ],
  ])('are read: %s', (_, name, expected) => {
    const request = requestOf(
      buildRequest({ attributes: [requestNames(name)] }),
    );
    expect(request.alternativeNames).toMatchObject([expected]);
  });

  const upn = (value: Buffer) => other('userPrincipalName', value);
  it.each<[string, Buffer]>([
    ['a value that is not a list', NULL],
    ['an empty list', seq()],
    ['101 names', seq(...Array.from({ length: 101 }, () => text(0x81, 'a@b')))],
    ['trailing bytes', Buffer.concat([seq(text(0x81, 'a@b')), NULL])],
    ['a name with an unknown tag', seq(tlv(0x89))],
    ['a name without its tag', seq(text(0x16, 'a@b'))],
    ['a constructed address', seq(tlv(0xa1, text(0x16, 'a@b')))],
    ['an address without @', seq(text(0x81, 'alice'))],
    ['an address with a space', seq(text(0x81, 'a @b'))],
    ['an address with non-ASCII characters', seq(text(0x81, 'ä@b'))],
    ['an empty host', seq(text(0x82, ''))],
    ['an IP address with a mask', seq(tlv(0x87, Buffer.alloc(8)))],
    ['a truncated OID', seq(tlv(0x88, Buffer.of(0x2a, 0x83)))],
    [
      'two names under one tag',
      seq(
        tlv(0xa4, subject(['commonName', 'a']), subject(['commonName', 'b'])),
      ),
    ],
    ['an otherName without a value', seq(tlv(0xa0, oid('1.2.3')))],
    [
      'an otherName with two values',
      seq(tlv(0xa0, oid('1.2.3'), tlv(0xa0, NULL), tlv(0xa0, NULL))),
    ],
    [
      'an otherName with two values under its tag',
      seq(tlv(0xa0, oid('1.2.3'), tlv(0xa0, NULL, NULL))),
    ],
    ['a UPN of another type', seq(upn(text(0x16, 'alice@EXAMPLE.TEST')))],
    ['an empty UPN', seq(upn(text(0x0c, '')))],
    ['a UPN with NUL', seq(upn(text(0x0c, 'alice@EXAMPLE.TEST\0')))],
    ['a UPN that is not UTF-8', seq(upn(tlv(0x0c, Buffer.of(0xc0, 0x80))))],
    [
      'a principal with a realm of another type',
      seq(principal({ realm: text(0x0c, 'EXAMPLE.TEST') })),
    ],
    [
      'a principal with an empty realm',
      seq(principal({ realm: text(0x1b, '') })),
    ],
    ['a principal without components', seq(principal({ components: [] }))],
    [
      'a principal with an empty component',
      seq(principal({ components: [text(0x1b, '')] })),
    ],
    [
      'a principal with NUL',
      seq(principal({ components: [text(0x1b, 'alice\0')] })),
    ],
    [
      'a principal with non-ASCII characters',
      seq(principal({ components: [text(0x1b, 'älice')] })),
    ],
    ['a principal with a huge type', seq(principal({ type: int(2n ** 31n) }))],
    ['a principal with an additional field', seq(principal({ more: NULL }))],
    [
      'a principal that is a string',
      seq(other('krb5PrincipalName', text(0x1b, 'alice@EXAMPLE.TEST'))),
    ],
  ])('are refused with %s', (_, names) => {
    const attributes = [extensionRequest(extension('subjectAltName', names))];
    expect(outcomeOf(buildRequest({ attributes }))).toBe(
      'bad_alternative_name',
    );
  });
});
