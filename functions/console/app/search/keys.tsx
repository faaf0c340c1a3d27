import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { later } from '../ui/later.tsx';

const Palette = later(() => import('./palette.tsx').then((module) => module.Palette));

/** Open dialog of the keyboard. */
export const opened = signal<'palette' | 'help' | undefined>(undefined);

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('textarea, select, input:not([type=checkbox], [type=range])'));

const press = (selector: string): boolean => {
  const found = document.querySelector<HTMLElement>(selector);
  found?.click();
  return found !== null;
};

/** Move the focus to the next or previous row: of the table of experiments, or of a list of links. */
function moveRow(step: 1 | -1): boolean {
  const links = [
    ...document.querySelectorAll<HTMLElement>('main .row.body .name a, main table.data tbody th a'),
  ];
  const at = links.indexOf(document.activeElement as HTMLElement);
  const present = document.activeElement?.closest('.row.body');
  if (present != null) {
    const key = step === 1 ? 'ArrowDown' : 'ArrowUp';
    document.activeElement?.dispatchEvent(
      new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }),
    );
    return true;
  }
  const next = links[at < 0 ? 0 : at + step];
  next?.focus();
  return next !== undefined;
}

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
  x: () => {
    const box = document.activeElement
      ?.closest('.row.body')
      ?.querySelector<HTMLElement>('input[type=checkbox]');
    box?.click();
    return box != null;
  },
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
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return;
      if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        if (document.querySelector('dialog[open]') === null) opened.value = 'palette';
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector('dialog[open]') !== null) return;
      if (keys[event.key]?.() === true) event.preventDefault();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
  return opened.value === undefined ? null : (
    <Palette key={opened.value} isHelp={opened.value === 'help'} onClose={() => (opened.value = undefined)} />
  );
}
