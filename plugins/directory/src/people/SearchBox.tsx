import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { SearchField, VisuallyHidden } from '@backstage/ui';
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { directoryTranslationRef } from '../translation';
import styles from './SearchBox.module.css';
import { useDebounced } from './useDebounced';

/** Typing pauses this long between words, in milliseconds. */
const PAUSE = 250;

/** Options of {@link SearchBox}. */
export interface SearchBoxProps {
  /** What the URL says. */
  text: string;

  /** Takes what was typed, once the reader pauses. */
  onSearch: (text: string) => void;

  /** Whether what was typed is too short to ask. */
  isTooShort: boolean;

  /** Moves on to the results. */
  onLeaveDown: () => void;
}

/** One wide field for everything that people are called. */
export function SearchBox(props: SearchBoxProps) {
  const { text, onSearch, isTooShort, onLeaveDown } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const [typed, setTyped] = useState(text);
  const settled = useDebounced(typed, PAUSE);
  const hint = useId();

  // Back, forward and links change the text without typing.
  useEffect(() => setTyped(text), [text]);

  useEffect(() => {
    if (settled === typed && settled.trim() !== text) {
      onSearch(settled.trim());
    }
    // Only what settles is searched, not what the URL changes to.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [settled]);

  function handleKeyDown(event: KeyboardEvent) {
    if (event.key === 'ArrowDown') {
      event.preventDefault();
      onLeaveDown();
    }
  }

  return (
    <div className={styles.box}>
      <SearchField
        // The page is about this field: who opens it wants to type.
        // eslint-disable-next-line jsx-a11y/no-autofocus
        autoFocus
        aria-label={t('people.search.label')}
        aria-describedby={hint}
        placeholder={t('people.search.placeholder')}
        size="medium"
        value={typed}
        onChange={setTyped}
        onKeyDown={handleKeyDown}
        onSubmit={value => onSearch(value.trim())}
      />
      <VisuallyHidden id={hint}>{t('people.search.hint')}</VisuallyHidden>
      <p role="status" className={styles.tooShort}>
        {isTooShort && t('people.search.tooShort')}
      </p>
    </div>
  );
}
