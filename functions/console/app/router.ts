import { computed, signal } from '@preact/signals';
import { fromMlflow } from './mlflow-link.ts';

/** Where somebody is: a path of parts and what the view of it is set to, both in the address. */
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

function placeOf(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#/, '').split(/\?(.*)/s);
  return { parts: path.split('/').filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

const hash = signal(fromMlflow(location.hash));

/** Which entry of the browser's history is shown. An entry that is new gets its own number, which it keeps over Back. */
interface Entry {
  id: string;
  isReturn: boolean;
}

function presentEntry(): Entry {
  const state: unknown = history.state;
  if (typeof state === 'object' && state !== null && 'entry' in state && typeof state.entry === 'string')
    return { id: state.entry, isReturn: true };
  const id = crypto.randomUUID();
  history.replaceState({ entry: id }, '');
  return { id, isReturn: false };
}

let entry = presentEntry();
window.addEventListener('hashchange', () => {
  entry = presentEntry();
  hash.value = fromMlflow(location.hash);
});

/** What pages keep for Back, by the entry of the history that they were shown in; the oldest makes room. */
const kept = new Map<string, Record<string, unknown>>();
const maxEntries = 50;

/** Keep something of the page that is shown, for when somebody comes back to it. */
export function keep(name: string, value: unknown): void {
  kept.set(entry.id, { ...kept.get(entry.id), [name]: value });
  const [oldest] = kept.keys();
  if (kept.size > maxEntries && oldest !== undefined) kept.delete(oldest);
}

/** What was kept under a name where this page is one that somebody has come back to. */
export const keptOf = <T>(name: string): T | undefined =>
  entry.isReturn ? (kept.get(entry.id)?.[name] as T | undefined) : undefined;

/** The present place. The part behind `#` never reaches the service, so that pages need no routes there. */
export const place = computed(() => placeOf(hash.value));

/** The address of a place, for links. */
export function href(
  parts: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') search.set(name, value);
  const tail = search.toString();
  return `#/${parts.map(encodeURIComponent).join('/')}${tail === '' ? '' : `?${tail}`}`;
}

export function go(to: string): void {
  location.hash = to;
}

/** Change what the view is set to; going back does not undo it. */
export function setQuery(change: Readonly<Record<string, string | undefined>>): void {
  const { parts, query } = placeOf(location.hash);
  const next = { ...Object.fromEntries(query), ...change };
  history.replaceState(history.state, '', href(parts, next));
  hash.value = location.hash;
}
