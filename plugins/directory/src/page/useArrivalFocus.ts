import { type RefObject, useEffect } from 'react';

/**
 * Moves the focus to the page when the link that led here is gone with the
 * page it was on; otherwise the next Tab would start at the top of the portal.
 */
export function useArrivalFocus(page: RefObject<HTMLElement>, title: string) {
  useEffect(() => {
    if (document.activeElement === document.body && !isFirstPage()) {
      page.current?.focus({ preventScroll: true });
    }
  }, [page, title]);
}

/** Whether the browser loaded this page itself: then it starts at the top. */
function isFirstPage(): boolean {
  return (window.history.state?.idx ?? 0) === 0; // React Router counts there
}
