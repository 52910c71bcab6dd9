import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { SearchField, Text, VisuallyHidden } from '@backstage/ui';
import { foldWords } from '@directory-gateway/backstage-plugin-directory-common';
import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { directoryTranslationRef } from '../translation';
import { QueryPanel } from './QueryPanel';
import styles from './SearchList.module.css';

interface SearchFieldProps {
  /** Search text from the URL. */
  text: string;

  /** Called with the text after a pause in typing. */
  onSearch: (text: string) => void;
  label: string;
  placeholder: string;

  /**
   * Whether the list is a section of the page. Defaults to false: the search
   * field receives the focus.
   */
  isSection?: boolean;
}

interface SearchListProps<Data> extends SearchFieldProps {
  query: UseQueryResult<Data>;
  filters?: ReactNode;

  total: (data: Data) => string;
  skeleton: ReactNode;

  /** Whether a failed refresh is reported elsewhere. Defaults to false. */
  hidesStaleNotice?: boolean;

  children: (data: Data) => ReactNode;
}

/**
 * A list with server-side search: the search field, filters, the total and the
 * results, which stay visible while new ones are loading. The down arrow moves
 * from the field to the first result.
 */
export function SearchList<Data>(props: SearchListProps<Data>) {
  const { query, filters } = props;
  const { data, isPlaceholderData } = query;
  const results = useRef<HTMLDivElement>(null);

  return (
    <div className={styles.list}>
      <TextSearch
        {...props}
        onLeaveDown={() => focusFirstResult(results.current)}
      />
      <div className={styles.bar}>
        {filters && <div className={styles.filters}>{filters}</div>}
        <div className={styles.total}>
          {data !== undefined && (
            <Text role="status" variant="body-medium" color="secondary">
              {props.total(data)}
            </Text>
          )}
        </div>
      </div>
      <div
        ref={results}
        aria-busy={isPlaceholderData}
        className={isPlaceholderData ? styles.old : undefined}
      >
        <QueryPanel
          query={query}
          skeleton={props.skeleton}
          hidesStaleNotice={props.hidesStaleNotice}
        >
          {props.children}
        </QueryPanel>
      </div>
    </div>
  );
}

/** Pause in typing before a search, in milliseconds. */
const PAUSE = 50;

/**
 * Minimum time between two searches, in milliseconds. Each one changes the URL,
 * and browsers allow 100 changes in 10 seconds.
 */
const MIN_INTERVAL = 250;

/** Search field that reports the text after a pause in typing. */
function TextSearch(
  props: SearchFieldProps & {
    /** Moves the focus to the results. */
    onLeaveDown: () => void;
  },
) {
  const { text, onSearch, label, placeholder, isSection = false } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const [typed, setTyped] = useState(text);
  const nextSearch = useRef(0);
  const settled = useDebounced(
    typed,
    Math.max(PAUSE, nextSearch.current - performance.now()),
  );
  const hint = useId();
  /** Texts that have been reported but are not in the URL yet. */
  const reported = useRef<string[]>([]);

  // Navigation can change the text without typing. A reported text must not
  // replace what was typed since.
  useEffect(() => {
    const index = reported.current.indexOf(text);
    if (index < 0) {
      reported.current = [];
      setTyped(text);
    } else {
      reported.current.splice(0, index + 1);
    }
  }, [text]);

  useEffect(() => {
    const value = settled.trim();
    if (settled === typed && value !== (reported.current.at(-1) ?? text)) {
      nextSearch.current = performance.now() + MIN_INTERVAL;
      reported.current.push(value);
      onSearch(value);
    }
    // Only typing starts a search, not a URL change.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [settled]);

  return (
    <div>
      <SearchField
        // eslint-disable-next-line jsx-a11y/no-autofocus -- the field is the purpose of the page
        autoFocus={!isSection}
        aria-label={label}
        aria-describedby={hint}
        placeholder={placeholder}
        size={isSection ? 'small' : 'medium'}
        value={typed}
        onChange={setTyped}
        onKeyDown={event => {
          const isPlain = !event.altKey && !event.ctrlKey && !event.metaKey;
          if (event.key === 'ArrowDown' && isPlain && !event.shiftKey) {
            event.preventDefault();
            props.onLeaveDown();
          }
        }}
      />
      <VisuallyHidden id={hint}>{t('search.hint')}</VisuallyHidden>
    </div>
  );
}

/** Returns a value after it has not changed for `delay` milliseconds. */
export function useDebounced<Value>(value: Value, delay = PAUSE): Value {
  const [settled, setSettled] = useState(value);

  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), delay);
    return () => clearTimeout(timer);
  }, [value, delay]);

  return settled;
}

/**
 * Whether a text is so short that the server matches it only with whole names,
 * except in Chinese, Japanese and Korean.
 */
export function isShort(text: string): boolean {
  return text !== '' && foldWords(text).every(word => [...word].length < 3);
}

/** Moves the focus to the first card or table row. */
function focusFirstResult(container: HTMLElement | null) {
  container
    ?.querySelector<HTMLElement>('tbody [role="row"], li a[href]')
    ?.focus();
}
