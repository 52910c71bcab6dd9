/** Options of {@link DateTime}. */
export interface DateTimeProps {
  /** The moment. */
  value: Date;
}

/** A day in the reader's locale; the exact time on hover. */
export function DateTime({ value }: DateTimeProps) {
  return (
    <time
      dateTime={value.toISOString()}
      title={value.toLocaleString(undefined, {
        dateStyle: 'full',
        timeStyle: 'long',
      })}
    >
      {value.toLocaleDateString(undefined, { dateStyle: 'medium' })}
    </time>
  );
}
