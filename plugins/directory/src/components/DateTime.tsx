import type { ReactNode } from 'react';

/** Options of {@link DateTime}. */
export interface DateTimeProps {
  /** The moment. */
  value: Date;

  /** What to read in place of the day, such as how long it is till then. */
  children?: ReactNode;
}

/** A day in the reader's locale, or other words for it; the exact time on hover. */
export function DateTime({ value, children }: DateTimeProps) {
  return (
    <time
      dateTime={value.toISOString()}
      title={value.toLocaleString(undefined, {
        dateStyle: 'full',
        timeStyle: 'long',
      })}
    >
      {children ?? value.toLocaleDateString(undefined, { dateStyle: 'medium' })}
    </time>
  );
}
