import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { directoryTranslationRef } from '../translation';
import { offsetMinutes } from './offsetMinutes';
import { useNow } from './useNow';

/** Options of {@link LocalTime}. */
export interface LocalTimeProps {
  /** The time zone, as the directory has it. */
  timeZone: string;

  /** `brief` is the time alone. Defaults to `relative`: "14:05, 3 h ahead of you". */
  form?: 'brief' | 'relative';
}

/**
 * What time it is for somebody now, the zone on hover; nothing when the zone
 * is none that the browser knows.
 */
export function LocalTime({ timeZone, form = 'relative' }: LocalTimeProps) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const now = useNow();

  const offset = offsetMinutes(timeZone, now);
  if (offset === undefined) {
    return null;
  }
  const time = now.toLocaleTimeString(undefined, {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
  });
  const ahead = offset + now.getTimezoneOffset();
  const words = () => {
    if (ahead === 0) {
      return t('time.same', { time });
    }
    const difference = formatDifference(Math.abs(ahead));
    return t(ahead > 0 ? 'time.ahead' : 'time.behind', { time, difference });
  };

  return (
    <time dateTime={now.toISOString()} title={timeZone}>
      {form === 'brief' ? time : words()}
    </time>
  );
}

/** "3 h", "5 h 30 min", in the reader's language. */
function formatDifference(minutes: number): string {
  const unit = (value: number, name: 'hour' | 'minute') =>
    value.toLocaleString(undefined, {
      style: 'unit',
      unit: name,
      unitDisplay: 'short',
    });
  const hours = Math.floor(minutes / 60);
  const rest = minutes % 60;
  return [
    ...(hours ? [unit(hours, 'hour')] : []),
    ...(rest ? [unit(rest, 'minute')] : []),
  ].join(' ');
}
