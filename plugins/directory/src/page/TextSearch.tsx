import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { SearchField, VisuallyHidden } from '@backstage/ui';
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { useDebounced } from '../search/useDebounced';
import { directoryTranslationRef } from '../translation';
import styles from './TextSearch.module.css';

/** Typing pauses this long between words, in milliseconds. */
const PAUSE = 250;

/** Options of {@link TextSearch}. */
export interface TextSearchProps {
  /** What the URL says. */
  text: string;

  /** Takes what was typed, once the reader pauses. */
  onSearch: (text: string) => void;

  /** What is searched. */
  label: string;
  placeholder: string;

  /** Whether what was typed is too short to ask. */
  isTooShort: boolean;

  /** Defaults to medium. */
  size?: 'small' | 'medium';

  /** Whether the page is about it, so that it has the focus. Defaults to false. */
  isFirst?: boolean;

  /** Moves on to the results. */
  onLeaveDown: () => void;
}

/** A field for the server to search: it says when there is too little to ask. */
export function TextSearch(props: TextSearchProps) {
  const { text, onSearch, label, placeholder, isTooShort } = props;
  const { size = 'medium', isFirst = false, onLeaveDown } = props;
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
    <div className={styles.search}>
      <SearchField
        // eslint-disable-next-line jsx-a11y/no-autofocus -- the page decides
        autoFocus={isFirst}
        aria-label={label}
        aria-describedby={hint}
        placeholder={placeholder}
        size={size}
        value={typed}
        onChange={setTyped}
        onKeyDown={handleKeyDown}
        onSubmit={value => onSearch(value.trim())}
      />
      <VisuallyHidden id={hint}>{t('search.hint')}</VisuallyHidden>
      <p role="status" className={styles.tooShort}>
        {isTooShort && t('search.tooShort')}
      </p>
    </div>
  );
}
