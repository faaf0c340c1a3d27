import { regularExpression } from '../../../shared/search/regular-expression.ts';
import type { Vocabulary } from '../../../shared/search/vocabulary.ts';

export interface Row {
  id: string;
  name?: string;
  created?: number;
  metrics: ReadonlyMap<string, number>;
  params: ReadonlyMap<string, string>;
  tags: ReadonlyMap<string, string>;
}

type Named<T> = Readonly<Record<string, T>>;

/** A row to search. */
export const row = (
  id: string,
  given: {
    name?: string;
    created?: number;
    metrics?: Named<number>;
    params?: Named<string>;
    tags?: Named<string>;
  },
): Row => ({
  id,
  ...given,
  metrics: new Map(Object.entries(given.metrics ?? {})),
  params: new Map(Object.entries(given.params ?? {})),
  tags: new Map(Object.entries(given.tags ?? {})),
});

export const vocabulary: Vocabulary<Row> = {
  attributes: {
    name: { type: 'text', read: ({ name }) => name },
    created_at: { type: 'time', read: ({ created }) => created },
  },
  groups: {
    metrics: { type: 'number', read: ({ metrics }, key) => metrics.get(key) },
    params: { type: 'text-or-number', read: ({ params }, key) => params.get(key) },
    tags: { type: 'text', read: ({ tags }, key) => tags.get(key) },
  },
  groupAliases: {
    metric: 'metrics',
    param: 'params',
    parameter: 'params',
    parameters: 'params',
    tag: 'tags',
  },
  expressions: regularExpression,
};

/** The same, for filters that people type. */
export const freeVocabulary = (now: Date): Vocabulary<Row> => ({
  ...vocabulary,
  free: {
    named: (name) => ({
      label: name,
      type: 'text-or-number',
      read: ({ params, metrics, tags }) => params.get(name) ?? metrics.get(name) ?? tags.get(name),
    }),
    textOf: ({ name = '', params, tags }) =>
      [name, ...params.values(), ...tags.values()].join(' ').toLowerCase(),
    timeOf: ({ created }) => created,
    now: () => now,
  },
});
