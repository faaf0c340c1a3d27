import { signal } from '@preact/signals';
import { schemeChanges } from './colours.ts';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const key = 'mps-theme';

const kept = (): Theme => themes.find((one) => one === localStorage.getItem(key)) ?? 'system';

/** Chosen theme, kept by the browser. */
export const theme = signal<Theme>(kept());

/** Conditions of the style sheet's rules for dark pages, as they were written. */
const written = new Map<CSSMediaRule, string>();

/**
 * Apply the theme to the style sheet: its rules for dark pages always hold, never, or by the system. The rules thus
 * exist once.
 */
export function applyTheme(): void {
  const chosen = theme.value;
  for (const sheet of document.styleSheets)
    for (const rule of sheet.cssRules)
      if (
        rule instanceof CSSMediaRule &&
        (written.has(rule) || /prefers-color-scheme/.test(rule.media.mediaText))
      ) {
        const condition = written.get(rule) ?? rule.media.mediaText;
        written.set(rule, condition);
        rule.media.mediaText = chosen === 'system' ? condition : chosen === 'dark' ? 'all' : 'not all';
      }
  document.documentElement.style.colorScheme = chosen === 'system' ? '' : chosen;
  schemeChanges.value += 1;
}

export function setTheme(next: Theme): void {
  theme.value = next;
  localStorage.setItem(key, next);
  applyTheme();
}

// Other tabs follow.
window.addEventListener('storage', (event) => {
  if (event.key !== key) return;
  theme.value = kept();
  applyTheme();
});
