import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { lazy } from '../ui/states/lazy.tsx';
import { isTyping, useKeys } from '../ui/use-keys.ts';
import { queueKeys } from './key-queue.ts';

const Palette = lazy(() => import('./palette.tsx').then((module) => module.Palette));
const ShortcutList = lazy(() => import('./shortcut-list.tsx').then((module) => module.ShortcutList));

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
  // A field of a menu that is closed cannot have the focus.
  found.closest('details')?.setAttribute('open', '');
  found.focus();
  if (found.matches('button, input[type=checkbox]')) found.click();
  else if (found instanceof HTMLInputElement) found.select();
  return true;
}
const reached = Object.fromEntries([...'abdgmnNsu[]'].map((key) => [key, () => reach(key)]));

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

/** Text typed since the palette was asked for, while its script loads. */
let ahead = '';
const takeAhead = (): string => {
  const text = ahead;
  ahead = '';
  return text;
};

/** Keep what is typed for the palette before it is there. The page must not act on it. */
function onAhead(event: KeyboardEvent): void {
  if (opened.peek() === undefined || document.querySelector('dialog[open]') !== null) return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (event.key === 'Escape') opened.value = undefined;
  else if (event.key === 'Backspace') ahead = ahead.slice(0, -1);
  else if (event.key.length === 1) ahead += event.key;
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.altKey || document.querySelector('dialog[open]') !== null) return;
  const isHeld = event.ctrlKey || event.metaKey;
  if (isHeld && event.key.toLowerCase() === 'k') {
    event.preventDefault();
    ahead = '';
    opened.value = 'palette';
  } else if (!isHeld && event.key === 'Escape' && isTyping(event)) {
    // Out of the field, so that single keys act again.
    (event.target as HTMLElement).blur();
  }
}

/** Listens to the keys of the whole page, and shows the palette and the list of keys. */
export function Keys() {
  useKeys(keys);
  useEffect(() => {
    window.addEventListener('keydown', onAhead, true);
    window.addEventListener('keydown', onKey);
    const release = queueKeys();
    return () => {
      window.removeEventListener('keydown', onAhead, true);
      window.removeEventListener('keydown', onKey);
      release();
    };
  }, []);
  const close = () => (opened.value = undefined);
  if (opened.value === undefined) return null;
  if (opened.value === 'help') return <ShortcutList onClose={close} />;
  return <Palette takeAhead={takeAhead} onClose={close} />;
}
