import { fault } from './project-archive-error.ts';

/** Ids that an archive replaces, by number in fields and as references in texts that people and programs wrote. */
export interface Ids {
  project_id: string;
  /** Ids in the order of their numbers, which begin with 1. */
  experiments: readonly string[];
  models: readonly string[];
}

const id = /[0-7][0-9a-hjkmnp-tv-z]{25}/g;

/** Find the ids of the service in a text. */
export const idsIn = (text: string): readonly string[] => text.match(id) ?? [];

/** The names that replace ids in an archive. */
export interface Names {
  /** Number of an experiment; null if the archive does not contain it. */
  numberOf(experiment_id: string | null | undefined): number | null;
  /**
   * A text in which numbers replace the ids: `~p~` is the project, `~e3~` its third experiment, `~m1~` its first
   * model, and `~0` stands for `~`. MLflow's clients write ids into tags, and into JSON in tags.
   */
  inText(text: string): string;
  /** The same of a text that people write, such as a report. Its ids may have upper case. */
  inAnyCase(text: string): string;
}

/** Build the names that replace ids in an archive. */
export function namesOf({ project_id, experiments, models }: Ids): Names {
  const numbers = new Map(experiments.map((experiment, index) => [experiment, index + 1]));
  const names = new Map([
    [project_id, '~p~'],
    ...experiments.map((experiment, index): [string, string] => [experiment, `~e${index + 1}~`]),
    ...models.map((model, index): [string, string] => [model, `~m${index + 1}~`]),
  ]);
  const replaced = (text: string, pattern: RegExp) =>
    text.replaceAll('~', '~0').replaceAll(pattern, (found) => names.get(found.toLowerCase()) ?? found);
  return {
    numberOf: (experiment_id) => numbers.get(experiment_id ?? '') ?? null,
    inText: (text) => replaced(text, id),
    inAnyCase: (text) => replaced(text, new RegExp(id.source, 'gi')),
  };
}

/**
 * Create the inverse of {@link Names.inText}, with the ids of another project.
 * @param path file of the text, for errors
 * @throws ProjectArchiveError for a text that `inText` never writes
 */
export function resolver(
  { project_id, experiments, models }: Ids,
  path = 'the archive',
): (text: string) => string {
  const idOf = (ids: readonly string[], number: string): string => {
    const found = /^[1-9]\d{0,6}$/.test(number) ? ids[Number(number) - 1] : undefined;
    if (found === undefined)
      throw fault(`a text of ${path} refers to the missing number ${number.slice(0, 20)}`);
    return found;
  };
  return (text) =>
    text.replaceAll(/~(0|p~|e(\d*)~|m(\d*)~)?/g, (whole, kind, experiment, model) => {
      if (kind === '0') return '~';
      if (kind === 'p~') return project_id;
      if (experiment !== undefined) return idOf(experiments, experiment);
      if (model !== undefined) return idOf(models, model);
      throw fault(`a text of ${path} contains ${whole} instead of a reference`);
    });
}

/** Copy a value and apply `change` to each of its strings, except to field names. */
export function withTexts<T>(value: T, change: (text: string) => string): T {
  const walk = (one: unknown): unknown => {
    if (typeof one === 'string') return change(one);
    if (Array.isArray(one)) return one.map(walk);
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([name, inner]) => [name, walk(inner)]));
  };
  // `change` only maps strings to strings, so the type stays.
  return walk(value) as T;
}
