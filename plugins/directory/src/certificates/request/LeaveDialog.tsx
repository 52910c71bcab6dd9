import { useTranslationRef } from '@backstage/frontend-plugin-api';
import {
  Button,
  Dialog,
  DialogBody,
  DialogFooter,
  DialogHeader,
  Text,
} from '@backstage/ui';
import { useEffect, useRef, useState } from 'react';
import { useNavigate } from 'react-router-dom';
import { directoryTranslationRef } from '../../translation';

/** Asks for confirmation before leaving the page with an unsaved key. */
export function LeaveDialog({ guard }: { guard: LeaveGuard }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <Dialog
      isOpen={guard.isOpen}
      onOpenChange={isOpen => !isOpen && guard.stay()}
    >
      <DialogHeader>{t('request.leave.title')}</DialogHeader>
      <DialogBody>
        <Text as="p">{t('request.leave.description')}</Text>
      </DialogBody>
      <DialogFooter>
        <Button variant="secondary" onPress={guard.leave}>
          {t('request.leave.leave')}
        </Button>
        <Button onPress={guard.stay}>{t('request.leave.stay')}</Button>
      </DialogFooter>
    </Dialog>
  );
}

/** Target of the navigation: a link or the previous history entry. */
type Destination = { href: string } | 'back';

interface LeaveGuard {
  isOpen: boolean;
  stay: () => void;
  leave: () => void;
}

/**
 * While `isActive`, blocks navigation by link, by the back button and by
 * closing the tab. The blockers of React Router require a data router, which
 * Backstage does not use.
 *
 * Back navigation cannot be stopped before the router handles it. The guard
 * therefore adds a second history entry for the page: going back stays on the
 * page and opens the dialog.
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
      const href = isLeaving.current ? undefined : targetOf(event);
      if (href) {
        event.preventDefault();
        event.stopPropagation();
        setDestination({ href });
      }
    }
    function handlePopState() {
      if (!isLeaving.current) {
        pushGuardEntry();
        setDestination('back');
      }
    }
    function handleUnload(event: BeforeUnloadEvent) {
      event.preventDefault();
    }
    pushGuardEntry();
    document.addEventListener('click', handleClick, true);
    window.addEventListener('popstate', handlePopState);
    window.addEventListener('beforeunload', handleUnload);
    return () => {
      document.removeEventListener('click', handleClick, true);
      window.removeEventListener('popstate', handlePopState);
      window.removeEventListener('beforeunload', handleUnload);
      if (!isLeaving.current && isOnGuardEntry()) {
        window.history.back();
      }
    };
  }, [isActive]);

  function leave() {
    isLeaving.current = true;
    setDestination(undefined);
    if (destination === 'back') {
      navigate(-2); // the added entry and the page's own
    } else if (destination) {
      navigate(destination.href, { replace: isOnGuardEntry() });
    }
  }

  return {
    isOpen: destination !== undefined,
    stay: () => setDestination(undefined),
    leave,
  };
}

/** Returns the path of the portal page that a click opens, if any. */
function targetOf(event: MouseEvent): string | undefined {
  const link = (event.target as Element).closest<HTMLAnchorElement>(
    'a[href]:not([download]):not([target="_blank"])',
  );
  const isPlain = !(event.metaKey || event.ctrlKey || event.shiftKey);
  return isPlain && link?.origin === window.location.origin
    ? link.pathname + link.search + link.hash
    : undefined;
}

/** Adds a history entry for the current location. */
function pushGuardEntry() {
  const { history } = window;
  history.pushState({ ...history.state, isGuardEntry: true }, '');
}

function isOnGuardEntry(): boolean {
  return Boolean(window.history.state?.isGuardEntry);
}
