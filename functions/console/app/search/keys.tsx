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

/** Act on what the page has for a key, an element with this `data-key`: press a button or a box, or go to a field. */
function reach(key: string): boolean {
  const found = [...document.querySelectorAll<HTMLElement>(`[data-key="${key}"]:not(:disabled)`)].at(-1);
  if (found === undefined) return false;
  found.focus();
  if (found.matches('button, input[type=checkbox]')) found.click();
  else if (found instanceof HTMLInputElement) found.select();
  return true;
}
const reached = Object.fromEntries([...'abdgmnsu'].map((key) => [key, () => reach(key)]));

/** Open a part of the page by its place among the links. */
function openTab(index: number): boolean {
  const link = document.querySelectorAll<HTMLElement>('main nav.tabs a')[index];
  link?.focus();
  link?.click();
  return link !== undefined;
}
const tabs = Object.fromEntries([...'123456789'].map((key, index) => [key, () => openTab(index)]));

/** Move the focus to the next or previous row of a list of links or files. */
function moveRow(step: 1 | -1): boolean {
  const links = [
    ...document.querySelectorAll<HTMLElement>('main :is(table.data tbody th a, .file-list li > button)'),
  ];
  const at = links.indexOf(document.activeElement as HTMLElement);
  const next = links[at < 0 ? 0 : at + step];
  next?.focus();
  return next !== undefined;
}

/** The experiments' table has j, k and x of its own, and the charts have t and l. */
const keys: Readonly<Record<string, () => boolean>> = {
  ...reached,
  ...tabs,
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
