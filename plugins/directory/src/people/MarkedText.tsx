import styles from './MarkedText.module.css';

/** Options of {@link MarkedText}. */
export interface MarkedTextProps {
  value: string;

  /** What to mark, wherever it is first, whatever its case. */
  mark: string;
}

/** A value with the part that was looked for marked. */
export function MarkedText({ value, mark }: MarkedTextProps) {
  const start = value.toLowerCase().indexOf(mark.toLowerCase());
  if (start < 0) {
    return <>{value}</>;
  }
  const end = start + mark.length;
  return (
    <>
      {value.slice(0, start)}
      <mark className={styles.mark}>{value.slice(start, end)}</mark>
      {value.slice(end)}
    </>
  );
}
