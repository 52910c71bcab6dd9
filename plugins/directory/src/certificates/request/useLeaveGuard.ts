import { useEffect, useRef, useState } from 'react';
import { useNavigate } from 'react-router-dom';

/** Where the reader wants to go: a link, or so many steps through history. */
type Destination = { href: string } | { delta: number };

/** How a reader who is about to leave is asked. */
export interface LeaveGuard {
  /** Whether the reader is being asked. */
  isAsking: boolean;
  stay: () => void;
  leave: () => void;
}

const indexOf = (state: { idx?: number } | null) => state?.idx ?? 0;

/**
 * Asks before the page is left, by link, through history or by closing the
 * tab, while there is something to lose. React Router has blockers for data
 * routers only, and Backstage has another.
 */
export function useLeaveGuard(isActive: boolean): LeaveGuard {
  const navigate = useNavigate();
  const [destination, setDestination] = useState<Destination>();
  const isLeaving = useRef(false);

  useEffect(() => {
    if (!isActive) {
      return undefined;
    }
    const here = indexOf(window.history.state);

    function handleClick(event: MouseEvent) {
      const link = (event.target as Element).closest<HTMLAnchorElement>(
        'a[href]:not([download]):not([target="_blank"])',
      );
      const isPlain = !(event.metaKey || event.ctrlKey || event.shiftKey);
      if (
        isPlain &&
        !isLeaving.current &&
        link?.origin === window.location.origin
      ) {
        event.preventDefault();
        event.stopPropagation();
        setDestination({ href: link.pathname + link.search + link.hash });
      }
    }
    function handlePopState(event: PopStateEvent) {
      const delta = indexOf(event.state) - here;
      if (isLeaving.current) {
        return;
      }
      event.stopImmediatePropagation(); // the router stays where it is
      if (delta !== 0) {
        window.history.go(-delta);
        setDestination({ delta });
      }
    }
    function handleUnload(event: BeforeUnloadEvent) {
      event.preventDefault();
    }
    document.addEventListener('click', handleClick, true);
    window.addEventListener('popstate', handlePopState, true);
    window.addEventListener('beforeunload', handleUnload);
    return () => {
      document.removeEventListener('click', handleClick, true);
      window.removeEventListener('popstate', handlePopState, true);
      window.removeEventListener('beforeunload', handleUnload);
    };
  }, [isActive]);

  function leave() {
    isLeaving.current = true;
    if (destination && 'href' in destination) {
      navigate(destination.href);
    } else if (destination) {
      navigate(destination.delta);
    }
  }

  return {
    isAsking: destination !== undefined,
    stay: () => setDestination(undefined),
    leave,
  };
}
