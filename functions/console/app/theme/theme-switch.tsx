import { setTheme, theme, themes } from './theme.ts';

const names = { system: 'System', light: 'Light', dark: 'Dark' } as const;

export const ThemeSwitch = () => (
  <div class="segments" role="group" aria-label="Theme">
    {themes.map((one) => (
      <button key={one} type="button" aria-pressed={theme.value === one} onClick={() => setTheme(one)}>
        {names[one]}
      </button>
    ))}
  </div>
);
