import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { later } from '../ui/later.tsx';
import { useKeys } from '../ui/use-keys.ts';

const Palette = later(() => import('./palette.tsx').then((module) => module.Palette));

/** Open dialog of the keyboard. */
export const opened = signal<'palette' | 'help' | undefined>(undefined);

const press = (selector: string): boolean => {
  const found = document.querySelector<HTMLElement>(selector);
  found?.click();
  return found !== null;
};

/** Move the focus to the next or previous row of a list of links. */
function moveRow(step: 1 | -1): boolean {
  const links = [...document.querySelectorAll<HTMLElement>('main table.data tbody th a')];
  const at = links.indexOf(document.activeElement as HTMLElement);
  const next = links[at < 0 ? 0 : at + step];
  next?.focus();
  return next !== undefined;
}

/** The experiments' table has j, k and x of its own. */
const keys: Readonly<Record<string, () => boolean>> = {
  '/': () => {
    const search = document.querySelector<HTMLInputElement>(
      'main :is(.filter-box input, input[type=search])',
    );
    search?.focus();
    search?.select();
    return search !== null;
  },
  j: () => moveRow(1),
  k: () => moveRow(-1),
  c: () => press('.chosen-bar a.primary, .chosen-bar button.primary:not([disabled])'),
  e: () => {
    const buttons = [...document.querySelectorAll<HTMLElement>('main .actions button')];
    const edit = buttons.find(({ textContent }) => textContent === 'Edit');
    edit?.click();
    return edit !== undefined;
  },
  '?': () => {
    opened.value = 'help';
    return true;
  },
};

/** Listens to the keys of the whole page, and shows the palette and the list of keys. */
export function Keys() {
  useKeys(keys);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey || !(event.ctrlKey || event.metaKey)) return;
      if (event.key.toLowerCase() !== 'k') return;
      event.preventDefault();
      if (document.querySelector('dialog[open]') === null) opened.value = 'palette';
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
  return opened.value === undefined ? null : (
    <Palette key={opened.value} isHelp={opened.value === 'help'} onClose={() => (opened.value = undefined)} />
  );
}
