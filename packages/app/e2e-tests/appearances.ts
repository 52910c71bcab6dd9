/** Both themes on a wide screen and on the narrowest that is supported. */
export const appearances = [
  { name: 'light-wide', colorScheme: 'light', width: 1440, height: 900 },
  { name: 'dark-wide', colorScheme: 'dark', width: 1440, height: 900 },
  { name: 'light-narrow', colorScheme: 'light', width: 360, height: 740 },
  { name: 'dark-narrow', colorScheme: 'dark', width: 360, height: 740 },
] as const;

/** How a page looks: its theme and its size, in CSS pixels. */
export type Appearance = (typeof appearances)[number];
