import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import { readCertificatesConfig } from './CertificatesConfig';

const read = (reminders?: JsonObject) =>
  readCertificatesConfig(
    new ConfigReader({ certificates: { authority: 'ca', reminders } }),
  )!;

describe('directory.certificates.reminders', () => {
  it.each([
    [{}, [1, 7, 14, 30]],
    [{ daysBefore: [] }, []],
    [{ daysBefore: [3, 10, 3] }, [3, 10]],
  ])('accepts %j', (block, daysBefore) => {
    expect(read(block).reminders).toEqual({ daysBefore });
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
