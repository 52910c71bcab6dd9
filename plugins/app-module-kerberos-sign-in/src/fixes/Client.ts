/** A browser that can be told to send tickets. */
export type Browser =
  | 'chrome'
  | 'chromium'
  | 'edge'
  | 'firefox'
  | 'safari'
  | 'other';

/** A system that has tickets. */
export type System = 'linux' | 'macos' | 'windows' | 'other';

/** What somebody sits before. */
export interface Client {
  readonly browser: Browser;
  readonly system: System;
}

/** Looked for in this order: each of them claims to be those behind it. */
const browsers: ReadonlyArray<readonly [RegExp, Browser]> = [
  [/\bEdg\//, 'edge'],
  [/\b(?:OPR|Vivaldi|SamsungBrowser)\//, 'other'],
  [/\bFirefox\//, 'firefox'],
  [/\bChromium\//, 'chromium'],
  [/\b(?:Headless)?Chrome\//, 'chrome'],
  [/\bVersion\/.*\bSafari\//, 'safari'],
];

const systems: ReadonlyArray<readonly [RegExp, System]> = [
  [/Android|iPhone|iPad|CrOS/, 'other'],
  [/Windows/, 'windows'],
  [/Mac OS X/, 'macos'],
  [/Linux|X11/, 'linux'],
];

/** What the browser says of itself; newer ones name their brands apart. */
export interface SelfDescription {
  readonly userAgent: string;
  readonly userAgentData?: {
    readonly brands?: ReadonlyArray<{ readonly brand: string }>;
  };
}

/** Recognizes the browser and the system, to say what to do with them. */
export function detectClient(navigator: SelfDescription): Client {
  const { userAgent, userAgentData } = navigator;
  const brands = new Set(userAgentData?.brands?.map(({ brand }) => brand));
  const browser = first(browsers, userAgent) ?? 'other';
  return {
    // Chromium itself says Chrome; only the brands tell them apart.
    browser:
      browser === 'chrome' &&
      brands.has('Chromium') &&
      !brands.has('Google Chrome')
        ? 'chromium'
        : browser,
    system: first(systems, userAgent) ?? 'other',
  };
}

function first<T>(
  patterns: ReadonlyArray<readonly [RegExp, T]>,
  text: string,
): T | undefined {
  return patterns.find(([pattern]) => pattern.test(text))?.[1];
}
