/** The themes and the screens that pages are tried on. */
export const appearances = [
  { name: 'light-wide', colorScheme: 'light', width: 1440, height: 900 },
  { name: 'dark-wide', colorScheme: 'dark', width: 1440, height: 900 },
  { name: 'light-narrow', colorScheme: 'light', width: 360, height: 740 },
  { name: 'dark-narrow', colorScheme: 'dark', width: 360, height: 740 },
] as const;

/** The same pages on a very wide screen, for pictures. */
export const widestAppearances = [
  { name: 'light-widest', colorScheme: 'light', width: 2560, height: 1300 },
  { name: 'dark-widest', colorScheme: 'dark', width: 2560, height: 1300 },
] as const;

/** How a page looks: its theme and its size, in CSS pixels. */
export type Appearance =
  | (typeof appearances)[number]
  | (typeof widestAppearances)[number];
