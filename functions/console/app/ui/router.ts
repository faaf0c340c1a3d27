import { computed, signal } from '@preact/signals';
import { consoleLink } from '../../../../shared/client/console-link.ts';
import { forgetEdits, hasEdits, leaveEdits } from './edits.ts';
import { fromMlflow } from './mlflow-link.ts';

/** Current view: its path and its settings, both from the address. */
export interface Place {
  parts: readonly string[];
  query: URLSearchParams;
}

const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

export function placeOf(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#/, '').split(/\?(.*)/s);
  return { parts: path.split('/').filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

const hash = signal(fromMlflow(location.hash));

/** Current entry of the browser's history. A new entry gets its own ID and keeps it when the user goes back. */
interface Entry {
  id: string;
  /** Its place in the history of the tab. */
  index: number;
  isReturn: boolean;
}

function presentEntry(before = -1): Entry {
  const state: unknown = history.state;
  if (typeof state === 'object' && state !== null && 'entry' in state && 'index' in state)
    return { id: String(state.entry), index: Number(state.index), isReturn: true };
  const id = crypto.randomUUID();
  const index = before + 1;
  history.replaceState({ entry: id, index }, '');
  return { id, index, isReturn: false };
}

let entry = presentEntry();
/** Whether the browser goes back to the page that somebody was asked about. */
let isRestoring = false;
window.addEventListener('hashchange', () => {
  if (isRestoring) {
    isRestoring = false;
    return;
  }
  const next = presentEntry(entry.index);
  const steps = next.index - entry.index;
  if (steps !== 0 && hasEdits()) {
    // Browsers cannot be kept from a change of the part after `#`. The page stays, and its address comes back.
    const to = location.hash;
    isRestoring = true;
    history.go(-steps);
    leaveEdits(() => (next.isReturn ? history.go(steps) : go(to)));
    return;
  }
  entry = next;
  hash.value = fromMlflow(location.hash);
});

/** State of pages for the Back button, by history entry. The oldest entry is dropped first. */
const kept = new Map<string, Record<string, unknown>>();
const maxEntries = 50;

/** Keep a value of the current page, for a return to it. */
export function keep(name: string, value: unknown): void {
  kept.set(entry.id, { ...kept.get(entry.id), [name]: value });
  const [oldest] = kept.keys();
  if (kept.size > maxEntries && oldest !== undefined) kept.delete(oldest);
}

/** Return a kept value if the user has returned to this page; undefined otherwise. */
export const keptOf = <T>(name: string): T | undefined =>
  entry.isReturn ? (kept.get(entry.id)?.[name] as T | undefined) : undefined;

/** Current view. Browsers never send the part after `#` to the service, so pages need no routes there. */
export const place = computed(() => placeOf(hash.value));

/** Return the address of a view, for links. */
export const href = (
  parts: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string => consoleLink('', parts, query);

export function go(to: string): void {
  location.hash = to;
}

/** Go on from a page whose texts are stored, or whose subject is deleted: nothing that was typed there is asked about. */
export function goOn(to: string): void {
  forgetEdits();
  go(to);
}

/** Change the settings of the view without a new history entry. */
export function setQuery(change: Readonly<Record<string, string | undefined>>): void {
  const { parts, query } = placeOf(location.hash);
  const next = { ...Object.fromEntries(query), ...change };
  history.replaceState(history.state, '', href(parts, next));
  hash.value = location.hash;
}
