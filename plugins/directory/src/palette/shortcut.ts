import type { ConfigApi } from '@backstage/frontend-plugin-api';

/** A key combination. */
export interface Shortcut {
  ctrl: boolean;
  alt: boolean;
  shift: boolean;
  meta: boolean;

  /** A letter in upper case, or a digit. */
  key: string;
}

const KEY = 'directory.pages.paletteShortcut';
const DEFAULT = 'Mod+K';
const SYNTAX = /^(?:(?:Mod|Ctrl|Alt|Meta|Shift)\+)+[A-Z0-9]$/i;

/**
 * Reads the shortcut of the command palette. `Mod` is Cmd on Apple devices and
 * Ctrl on other devices.
 *
 * @throws Error when the shortcut is malformed or lacks a modifier key other
 *   than Shift (WCAG 2.2, 2.1.4)
 */
export function readShortcut(config: ConfigApi): Shortcut {
  const text = config.getOptionalString(KEY) ?? DEFAULT;
  const parts = text.toUpperCase().split('+');
  const isMac = /mac|iphone|ipad/i.test(navigator.platform);
  const shortcut = {
    ctrl: parts.includes('CTRL') || (parts.includes('MOD') && !isMac),
    alt: parts.includes('ALT'),
    shift: parts.includes('SHIFT'),
    meta: parts.includes('META') || (parts.includes('MOD') && isMac),
    key: parts[parts.length - 1],
  };
  const { ctrl, alt, meta } = shortcut;
  if (!SYNTAX.test(text) || !(ctrl || alt || meta)) {
    throw new Error(
      `${KEY} must be Mod, Ctrl, Alt or Meta and a letter or digit, such as ${DEFAULT}: ${text}`,
    );
  }
  return shortcut;
}

/** Whether a keyboard event matches a shortcut. */
export function isPressed(event: KeyboardEvent, shortcut: Shortcut): boolean {
  // Other keyboard layouts and Alt change the character of a key but not its
  // code.
  const key = /^[a-z0-9]$/i.test(event.key)
    ? event.key.toUpperCase()
    : event.code.replace(/^(?:Key|Digit)/, '');
  return (
    key === shortcut.key &&
    event.ctrlKey === shortcut.ctrl &&
    event.altKey === shortcut.alt &&
    event.shiftKey === shortcut.shift &&
    event.metaKey === shortcut.meta
  );
}

/** Returns a shortcut in `aria-keyshortcuts` syntax. */
export function ariaShortcut(shortcut: Shortcut): string {
  return [
    shortcut.ctrl && 'Control',
    shortcut.alt && 'Alt',
    shortcut.shift && 'Shift',
    shortcut.meta && 'Meta',
    shortcut.key,
  ]
    .filter(Boolean)
    .join('+');
}
