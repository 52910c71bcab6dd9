import { type KeyboardEvent, type RefObject, useCallback } from 'react';

const STEPS: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1 };

/**
 * Arrow keys between the links of a list of cards: left and right by one, up
 * and down by what is below and above on the screen. Above the first row is
 * whatever `onLeaveUp` moves to. A table has keys of its own.
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

/** The link nearest in the row below or above. */
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
