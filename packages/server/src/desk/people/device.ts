type Names = readonly (readonly [RegExp, string])[];

// The more specific names first: most browsers also claim to be another one.
const BROWSERS: Names = [
  [/\bEdg(?:A|iOS)?\//, 'Edge'],
  [/\b(?:OPR|OPT|OPiOS)\//, 'Opera'],
  [/\bVivaldi\//, 'Vivaldi'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:HeadlessChrome|Chrome|Chromium|CriOS)\//, 'Chrome'],
  [/\bVersion\/.*\bSafari\//, 'Safari'],
];

const SYSTEMS: Names = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMacintosh\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

/**
 * A few words by which a person recognises a session, such as "Firefox on Linux"; null when the header names nothing
 * we know. Only our own words are stored: the header is a stranger's text, and tells more than is needed.
 */
export function deviceOf(userAgent: string | undefined): string | null {
  const browser = nameIn(BROWSERS, userAgent);
  const system = nameIn(SYSTEMS, userAgent);
  if (browser === null) return system === null ? null : `A browser on ${system}`;
  return system === null ? browser : `${browser} on ${system}`;
}

const LONGEST = 512;

function nameIn(names: Names, userAgent = ''): string | null {
  const text = userAgent.slice(0, LONGEST);
  return names.find(([sign]) => sign.test(text))?.[1] ?? null;
}
