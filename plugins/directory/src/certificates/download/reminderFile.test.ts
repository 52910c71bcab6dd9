import { reminderFile } from './reminderFile';

const { name, content } = reminderFile(
  {
    serial_number: 340282366920938463463374607431768211455n,
    valid_not_after: 'Fri, 06 May 2022 06:22:53 -0000',
  },
  {
    title: 'Certificate of zoë; ends, really',
    description: 'Serial number 340282366920938463463374607431768211455',
    renewUrl: 'https://portal.example.test/directory/certificates/request',
  },
);
const lines = String(content).split('\r\n');
const unfolded = String(content).replaceAll('\r\n ', '');

describe('reminderFile', () => {
  it('names the certificate to the last digit and links to the next', () => {
    expect(name).toBe(
      'certificate-340282366920938463463374607431768211455.ics',
    );
    expect(unfolded).toContain('\r\nDTSTART:20220506T062253Z\r\n');
    expect(unfolded).toContain(
      'DESCRIPTION:Serial number 340282366920938463463374607431768211455\\nhttps://portal.example.test/directory/certificates/request\r\n',
    );
    expect(unfolded).toContain('TRIGGER:-P30D');
  });

  it('escapes text and folds long lines', () => {
    expect(unfolded).toContain('SUMMARY:Certificate of zoë\\; ends\\, really');
    for (const line of lines) {
      expect(new TextEncoder().encode(line).length).toBeLessThanOrEqual(75);
    }
  });
});
