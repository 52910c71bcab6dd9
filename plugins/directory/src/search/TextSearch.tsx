import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { SearchField } from '@backstage/ui';
import { type KeyboardEvent, useEffect, useState } from 'react';
import { useDebounced } from '../people/useDebounced';
import { directoryTranslationRef } from '../translation';
import { isTooShort } from './isTooShort';
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

  /** Defaults to medium. */
  size?: 'small' | 'medium';

  /** Whether the page is about it, so that it has the focus. Defaults to false. */
  isFirst?: boolean;

  /** Moves on to the results. */
  onLeaveDown?: () => void;
}

/** A field for the server to search: it says when there is too little to ask. */
export function TextSearch(props: TextSearchProps) {
  const { text, onSearch, label, placeholder } = props;
  const { size = 'medium', isFirst = false, onLeaveDown } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const [typed, setTyped] = useState(text);
  const settled = useDebounced(typed, PAUSE);

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
    if (event.key === 'ArrowDown' && onLeaveDown) {
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
        placeholder={placeholder}
        size={size}
        value={typed}
        onChange={setTyped}
        onKeyDown={handleKeyDown}
        onSubmit={value => onSearch(value.trim())}
      />
      <p role="status" className={styles.hint}>
        {isTooShort(text) && t('search.tooShort')}
      </p>
    </div>
  );
}
