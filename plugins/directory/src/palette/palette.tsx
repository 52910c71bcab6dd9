import {
  AppRootElementBlueprint,
  coreApis,
  useApi,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import {
  Component,
  lazy,
  type ReactNode,
  Suspense,
  useEffect,
  useState,
  useSyncExternalStore,
} from 'react';
import { directoryTranslationRef } from '../translation';
import {
  ariaShortcut,
  isPressed,
  readShortcut,
  type Shortcut,
} from './shortcut';

const loadDialog = () =>
  lazy(() =>
    import('./PaletteDialog').then(m => ({ default: m.PaletteDialog })),
  );

// Replaced after a failure, which `lazy` would repeat.
let PaletteDialog = loadDialog();

/** Keeps a failure of the dialog away from the portal. */
class DialogBoundary extends Component<{
  onError: () => void;
  children: ReactNode;
}> {
  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  state = { hasFailed: false };

  componentDidCatch() {
    this.props.onError();
  }

  render() {
    return this.state.hasFailed ? null : this.props.children;
  }
}

/**
 * The command palette of the portal.
 *
 * @public
 */
export interface Palette {
  /** Opens the palette. */
  open(): void;

  /**
   * Shortcut of the palette, in `aria-keyshortcuts` syntax, such as
   * `Control+K`.
   */
  readonly shortcut: string;
}

let mounted: Palette | undefined;
const listeners = new Set<() => void>();

/**
 * Makes the palette available to {@link usePalette}; `undefined` removes it.
 */
function publishPalette(palette: Palette | undefined): void {
  mounted = palette;
  listeners.forEach(listener => listener());
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Returns the command palette, for buttons that open it; `undefined` before
 * sign-in and in portals that disable it.
 *
 * @public
 */
export function usePalette(): Palette | undefined {
  return useSyncExternalStore(subscribe, () => mounted);
}

const NEVER_OPENED = { openings: 0, isOpen: false };

/** Opens the palette with its shortcut. Loads its code on first use. */
function PaletteRoot({ shortcut }: { shortcut: Shortcut }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const identity = useApi(coreApis.identity);
  const toast = useApi(coreApis.toast);
  const [isSignedIn, setSignedIn] = useState(false);
  const [{ openings, isOpen }, setState] = useState(NEVER_OPENED);

  // Also mounted on the sign-in page, where the identity is pending until
  // sign-in.
  useEffect(() => {
    identity.getBackstageIdentity().then(
      () => setSignedIn(true),
      () => {}, // nothing to search without an identity
    );
  }, [identity]);

  useEffect(() => {
    if (!isSignedIn) {
      return undefined;
    }
    const open = () =>
      setState(now =>
        now.isOpen ? now : { openings: now.openings + 1, isOpen: true },
      );
    const handleKey = (event: KeyboardEvent) => {
      if (isPressed(event, shortcut)) {
        event.preventDefault(); // Ctrl+K opens the search of some browsers
        open();
      }
    };
    publishPalette({ open, shortcut: ariaShortcut(shortcut) });
    // React Aria fields do not propagate key events.
    window.addEventListener('keydown', handleKey, true);
    return () => {
      publishPalette(undefined);
      window.removeEventListener('keydown', handleKey, true);
    };
  }, [isSignedIn, shortcut]);

  function handleError() {
    PaletteDialog = loadDialog();
    setState({ openings, isOpen: false });
    toast.post({ title: t('palette.unavailable'), status: 'danger' });
  }

  return openings > 0 ? (
    <DialogBoundary
      key={openings} // a new, empty dialog, even while the last one is closing
      onError={handleError}
    >
      <Suspense fallback={null}>
        <PaletteDialog
          isOpen={isOpen}
          onOpenChange={next => setState({ openings, isOpen: next })}
        />
      </Suspense>
    </DialogBoundary>
  ) : null;
}

/** The command palette on every page: `app-root-element:directory/palette`. */
export const paletteElement = AppRootElementBlueprint.makeWithOverrides({
  name: 'palette',
  factory(originalFactory, { apis }) {
    const shortcut = readShortcut(apis.get(coreApis.config)!);
    return originalFactory({ element: <PaletteRoot shortcut={shortcut} /> });
  },
});
