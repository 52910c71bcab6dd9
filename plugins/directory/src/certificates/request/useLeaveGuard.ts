import { useEffect, useRef, useState } from 'react';
import { useNavigate } from 'react-router-dom';

/** Where the reader wants to go: a link, or back through history. */
type Destination = { href: string } | 'back';

/** How a reader who is about to leave is asked. */
export interface LeaveGuard {
  /** Whether the reader is being asked. */
  isAsking: boolean;
  stay: () => void;
  leave: () => void;
}

/**
 * Asks before the page is left, by link, by the back button or by closing the
 * tab, while there is something to lose. React Router has blockers for data
 * routers only, and Backstage has another.
 *
 * The router hears of a step back before anybody else can stop it. So while
 * the guard is up there is a second entry for the page in the history: a step
 * back stays on the page, and the reader is asked there.
 */
export function useLeaveGuard(isActive: boolean): LeaveGuard {
  const navigate = useNavigate();
  const [destination, setDestination] = useState<Destination>();
  const isLeaving = useRef(false);

  useEffect(() => {
    if (!isActive) {
      return undefined;
    }
    function handleClick(event: MouseEvent) {
      const href = isLeaving.current ? undefined : leadsTo(event);
      if (href) {
        event.preventDefault();
        event.stopPropagation();
        setDestination({ href });
      }
    }
    function handlePopState() {
      if (!isLeaving.current) {
        standInTheWay();
        setDestination('back');
      }
    }
    function handleUnload(event: BeforeUnloadEvent) {
      event.preventDefault();
    }
    standInTheWay();
    document.addEventListener('click', handleClick, true);
    window.addEventListener('popstate', handlePopState);
    window.addEventListener('beforeunload', handleUnload);
    return () => {
      document.removeEventListener('click', handleClick, true);
      window.removeEventListener('popstate', handlePopState);
      window.removeEventListener('beforeunload', handleUnload);
      if (!isLeaving.current && isInTheWay()) {
        window.history.back();
      }
    };
  }, [isActive]);

  function leave() {
    isLeaving.current = true;
    setDestination(undefined);
    if (destination === 'back') {
      navigate(-2); // the entry in the way, and the page's own
    } else if (destination) {
      navigate(destination.href, { replace: isInTheWay() });
    }
  }

  return {
    isAsking: destination !== undefined,
    stay: () => setDestination(undefined),
    leave,
  };
}

/** The address of the portal's own page that a click leads to, if it does. */
function leadsTo(event: MouseEvent): string | undefined {
  const link = (event.target as Element).closest<HTMLAnchorElement>(
    'a[href]:not([download]):not([target="_blank"])',
  );
  const isPlain = !(event.metaKey || event.ctrlKey || event.shiftKey);
  return isPlain && link?.origin === window.location.origin
    ? link.pathname + link.search + link.hash
    : undefined;
}

/** Adds the entry to the history, where the router finds the same location. */
function standInTheWay() {
  const { history } = window;
  history.pushState({ ...history.state, isInTheWay: true }, '');
}

function isInTheWay(): boolean {
  return Boolean(window.history.state?.isInTheWay);
}
