import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import { readCertificatesConfig } from './CertificatesConfig';

const read = (reminders?: JsonObject) =>
  readCertificatesConfig(
    new ConfigReader({ certificates: { authority: 'ca', reminders } }),
  )!.reminders;

describe('directory.certificates.reminders', () => {
  it('has default days in ascending order', () => {
    const sixHours = 6 * 60 * 60 * 1000;
    expect(read()).toEqual({ daysBefore: [1, 7, 14, 30], everyMs: sixHours });
  });

  it.each([
    [{ daysBefore: [] }, []],
    [{ daysBefore: [3, 10, 3] }, [3, 10]],
  ])('accepts %j', (block, daysBefore) => {
    expect(read(block)).toMatchObject({ daysBefore });
  });

  it.each([[[0]], [[-1]], [[1.5]], [['1']], ['7']])(
    'rejects the days %j',
    daysBefore => {
      expect(() => read({ daysBefore })).toThrow(
        'directory.certificates.reminders.daysBefore must be',
      );
    },
  );
});
