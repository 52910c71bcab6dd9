import ICAL from 'ical.js';
import { reminderFile } from './reminder';

const SERIAL = 340282366920938463463374607431768211455n;
const RENEW = 'https://portal.example.test/directory/certificates/request';
const TITLE = 'Certificate of zoë; ends, really\\';

const makeReminder = (now: string) => {
  const { name, content } = reminderFile(
    {
      serial_number: SERIAL,
      valid_not_after: 'Fri, 06 May 2022 06:22:53 -0000',
    },
    {
      title: TITLE,
      description: `Serial number ${SERIAL}`,
      renewUrl: RENEW,
      now: new Date(now),
    },
  );
  const text = String(content);
  const calendar = new ICAL.Component(ICAL.parse(text));
  return { name, text, calendar, event: calendar.getAllSubcomponents()[0] };
};

describe('reminderFile', () => {
  it('contains the exact serial number and a renewal link', () => {
    const { name, calendar, event } = makeReminder('2022-01-01T00:00:00Z');
    expect(name).toBe(`certificate-${SERIAL}.ics`);
    expect(calendar.getFirstPropertyValue('version')).toBe('2.0');
    expect(calendar.getFirstPropertyValue('prodid')).toBeTruthy();
    const valueOf = (property: string) =>
      String(event.getFirstPropertyValue(property));
    expect(event.name).toBe('vevent');
    expect(valueOf('uid')).toBe(`certificate-${SERIAL}@portal.example.test`);
    expect(valueOf('dtstamp')).toBe('2022-01-01T00:00:00Z');
    expect(valueOf('dtstart')).toBe('2022-05-06T06:22:53Z');
    // RFC 5545 §3.8.2.2: the end must be later than the start.
    expect(event.hasProperty('dtend')).toBe(false);
    expect(valueOf('summary')).toBe(TITLE);
    expect(valueOf('description')).toBe(`Serial number ${SERIAL}\n${RENEW}`);
    expect(valueOf('url')).toBe(RENEW);
  });

  it.each([
    ['2022-01-01T00:00:00Z', ['-P30D', '-P14D', '-P7D', '-P1D']],
    ['2022-04-25T00:00:00Z', ['-P7D', '-P1D']],
    ['2023-01-01T00:00:00Z', []],
  ])('sets only future alarms at %s', (now, triggers) => {
    const { event } = makeReminder(now);
    const alarms = event.getAllSubcomponents('valarm');
    expect(
      alarms.map(alarm => String(alarm.getFirstPropertyValue('trigger'))),
    ).toEqual(triggers);
    for (const alarm of alarms) {
      expect(alarm.getFirstPropertyValue('action')).toBe('DISPLAY');
      expect(alarm.getFirstPropertyValue('description')).toBe(TITLE);
    }
  });

  it('ends lines with CRLF and folds long lines', () => {
    const { text } = makeReminder('2022-01-01T00:00:00Z');
    expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    for (const line of text.split('\r\n')) {
      expect(new TextEncoder().encode(line).length).toBeLessThanOrEqual(75);
    }
  });
});
