import {
  AppRootElementBlueprint,
  coreApis,
  useApi,
} from '@backstage/frontend-plugin-api';
import {
  lazy,
  Suspense,
  useEffect,
  useState,
  useSyncExternalStore,
} from 'react';
import {
  ariaShortcut,
  isPressed,
  readShortcut,
  type Shortcut,
} from './shortcut';

const PaletteDialog = lazy(() =>
  import('./PaletteDialog').then(m => ({ default: m.PaletteDialog })),
);

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
  const identity = useApi(coreApis.identity);
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

  return openings > 0 ? (
    <Suspense fallback={null}>
      <PaletteDialog
        key={openings} // a new, empty dialog, even while the last one is closing
        isOpen={isOpen}
        onOpenChange={next => setState({ openings, isOpen: next })}
      />
    </Suspense>
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
