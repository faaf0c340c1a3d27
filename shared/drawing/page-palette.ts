/**
 * Colours of every page of the service, light and dark by the reader's preference. Text colours have a contrast of
 * at least 4.5 to 1 with each of their backgrounds. A test computes it.
 */
export const lightColours = {
  text: '#1c2330',
  soft: '#566072',
  line: '#dfe3ea',
  edge: '#7f8a9c',
  page: '#ffffff',
  panel: '#f5f7fa',
  code: '#f0f3f7',
  accent: '#1556c0',
  mark: '#e8f0fd',
  good: '#0b6b3a',
  warn: '#8a4b00',
  bad: '#b3261e',
  special: '#6b3fb5',
} as const;

export const darkColours: Readonly<Record<keyof typeof lightColours, string>> = {
  text: '#e6e9ef',
  soft: '#a3adbd',
  line: '#2c3442',
  edge: '#6b778c',
  page: '#12161d',
  panel: '#181e27',
  code: '#1e2530',
  accent: '#85b4ff',
  mark: '#1d2b44',
  good: '#66d39a',
  warn: '#f0b266',
  bad: '#ff9a92',
  special: '#c4a3ff',
};

const declared = (colours: Readonly<Record<string, string>>): string =>
  Object.entries(colours)
    .map(([name, value]) => `--${name}: ${value};`)
    .join(' ');

/** CSS custom properties of the colours, such as `var(--accent)`. */
export const pagePalette = `:root { ${declared(lightColours)} }
@media (prefers-color-scheme: dark) { :root { ${declared(darkColours)} } }
`;
