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
window.addEventListener('hashchange', () => {
  hash.value = fromMlflow(location.hash);
});

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
  history.replaceState(null, '', href(parts, next));
  hash.value = location.hash;
}
