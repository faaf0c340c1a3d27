import { type Signal, signal } from '@preact/signals';
import { tryParseJson } from '../../../../../shared/core/text/try-parse-json.ts';

/** A list that this browser keeps for each project. */
export interface StoredList<T> {
  of(project_id: string): Signal<readonly T[]>;
  set(project_id: string, values: readonly T[]): void;
}

/** Open a list of this browser. Other tabs follow. Values of another type are left out. */
export function storedList<T>(key: string, isValue: (value: unknown) => value is T): StoredList<T> {
  const signals = new Map<string, Signal<readonly T[]>>();
  const read = (text: string | null): readonly T[] => {
    const values = tryParseJson(text ?? '');
    return Array.isArray(values) ? values.filter(isValue) : [];
  };
  const keyOf = (project_id: string) => `${key}-${project_id}`;
  const of = (project_id: string): Signal<readonly T[]> => {
    const known = signals.get(project_id) ?? signal(read(localStorage.getItem(keyOf(project_id))));
    signals.set(project_id, known);
    return known;
  };
  window.addEventListener('storage', ({ key: changed, newValue }) => {
    for (const [project_id, known] of signals)
      if (changed === keyOf(project_id)) known.value = read(newValue);
  });
  return {
    of,
    set(project_id, values) {
      of(project_id).value = values;
      localStorage.setItem(keyOf(project_id), JSON.stringify(values));
    },
  };
}
