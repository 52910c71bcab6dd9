import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { SearchField, VisuallyHidden } from '@backstage/ui';
import {
  forwardRef,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useId,
  useState,
} from 'react';
import { directoryTranslationRef } from '../translation';
import styles from './TextSearch.module.css';

/** Pause in typing after which the text is searched, in milliseconds. */
const PAUSE = 250;

/** Search field that tells when the text is too short for the server. */
export function TextSearch(props: {
  /** Text in the URL. */
  text: string;

  /** Called with the text after a pause in typing. */
  onSearch: (text: string) => void;

  /** Accessible name of the field. */
  label: string;
  placeholder: string;

  /** Whether the text is too short to search. */
  isTooShort: boolean;

  /** Defaults to medium. */
  size?: 'small' | 'medium';

  /** Whether the field takes the focus when the page opens. Defaults to false. */
  isFirst?: boolean;

  /** Moves the focus to the results. */
  onLeaveDown: () => void;
}) {
  const { text, onSearch, label, placeholder } = props;
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
    // Only typed text is searched, not a change of the URL.
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
        {props.isTooShort && t('search.tooShort')}
      </p>
    </div>
  );
}

/** Options of {@link Results}. */
interface ResultsProps {
  /** Whether other results are loading: these are dimmed meanwhile. */
  isBusy: boolean;

  /** Whether the results are dimmed for another reason. Defaults to false. */
  isOld?: boolean;

  /** Handles arrow keys, for results without keyboard navigation. */
  onKeyDown?: (event: KeyboardEvent) => void;

  children: ReactNode;
}

/** Results of a search, which stay in place while others are loading. */
export const Results = forwardRef<HTMLDivElement, ResultsProps>(
  ({ isBusy, isOld = false, onKeyDown, children }, ref) => (
    // eslint-disable-next-line jsx-a11y/no-static-element-interactions -- arrow keys only add to what its links do
    <div
      ref={ref}
      onKeyDown={onKeyDown}
      aria-busy={isBusy}
      className={isBusy || isOld ? styles.old : undefined}
    >
      {children}
    </div>
  ),
);

/** Returns a value once it has not changed for `delay` milliseconds. */
export function useDebounced<Value>(value: Value, delay: number): Value {
  const [settled, setSettled] = useState(value);

  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), delay);
    return () => clearTimeout(timer);
  }, [value, delay]);

  return settled;
}

/** Shortest text that the server searches, in characters. */
const SHORTEST = 3;

/** Whether a text is not empty but too short for the server to search. */
export function isTooShort(text: string): boolean {
  const { length } = Array.from(text.trim().replace(/\s+/g, ' '));
  return length > 0 && length < SHORTEST;
}

const STEPS: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1 };

/**
 * Returns a handler for arrow keys in a list of cards: left and right move by
 * one link, up and down to the link above and below on the screen. Up in the
 * first row calls `onLeaveUp`. Tables handle arrow keys themselves.
 */
export function useArrowKeys(
  container: RefObject<HTMLElement>,
  onLeaveUp: () => void,
) {
  return useCallback(
    (event: KeyboardEvent) => {
      const links = linksIn(container.current);
      const from = links.indexOf(document.activeElement as HTMLElement);
      if (from < 0 || !/^Arrow/.test(event.key)) {
        return;
      }
      const step = STEPS[event.key];
      const to = step
        ? links[from + step]
        : neighbor(links, from, event.key === 'ArrowDown');
      event.preventDefault();
      if (to) {
        to.focus();
      } else if (event.key === 'ArrowUp') {
        onLeaveUp();
      }
    },
    [container, onLeaveUp],
  );
}

/** Moves the focus to the first result, in cards or in a table. */
export function focusFirstResult(container: HTMLElement | null) {
  const row = container?.querySelector<HTMLElement>('tbody [role="row"]');
  (row ?? linksIn(container)[0])?.focus();
}

function linksIn(container: HTMLElement | null): HTMLElement[] {
  return [...(container?.querySelectorAll<HTMLElement>('li a[href]') ?? [])];
}

/** Returns the nearest link in the row below or above. */
function neighbor(
  links: readonly HTMLElement[],
  from: number,
  isBelow: boolean,
): HTMLElement | undefined {
  const place = (link: HTMLElement) =>
    (link.closest('li') ?? link).getBoundingClientRect();
  const here = place(links[from]);
  const distances = links
    .map(link => ({ link, box: place(link) }))
    .filter(({ box }) =>
      isBelow ? box.top > here.top + 1 : box.top < here.top - 1,
    )
    .map(({ link, box }) => ({
      link,
      down: Math.abs(box.top - here.top),
      across: Math.abs(box.left - here.left),
    }));
  distances.sort((a, b) => a.down - b.down || a.across - b.across);
  return distances[0]?.link;
}
