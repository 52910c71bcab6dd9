import { textRuns } from '../text/visibleText';
import styles from './DirectoryText.module.css';

/** Options of {@link DirectoryText}. */
export interface DirectoryTextProps {
  /** As the directory has it: users write most of these values themselves. */
  value: string;

  /** The part to mark, at its first place, in any case. */
  mark?: string;
}

/**
 * A value of the directory within a page. Its direction does not change that
 * of its surroundings, and its invisible characters are shown.
 */
export function DirectoryText({ value, mark = '' }: DirectoryTextProps) {
  const start = mark ? value.toLowerCase().indexOf(mark.toLowerCase()) : -1;
  const end = start + mark.length;
  return (
    <bdi>
      {start < 0 ? (
        <Runs value={value} />
      ) : (
        <>
          <Runs value={value.slice(0, start)} />
          <mark className={styles.mark}>
            <Runs value={value.slice(start, end)} />
          </mark>
          <Runs value={value.slice(end)} />
        </>
      )}
    </bdi>
  );
}

function Runs({ value }: { value: string }) {
  return (
    <>
      {textRuns(value).map(({ text, isCodePoint }, index) =>
        isCodePoint ? (
          // eslint-disable-next-line react/no-array-index-key -- the same code point may be there twice
          <span key={index} className={styles.codePoint}>
            {text}
          </span>
        ) : (
          text
        ),
      )}
    </>
  );
}
