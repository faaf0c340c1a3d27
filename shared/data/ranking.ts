import { createHash } from 'node:crypto';
import * as z from 'zod';
import { Ulid } from '../core/formats.ts';
import { Best, type Experiment } from './experiment.ts';
import { readPage } from './read-page.ts';
import { recordType } from './record.ts';
import type { Key, Page, TableReader, Write } from './table.ts';
import type { UnreadableRecordError } from './unreadable-record.ts';

const ranked = recordType('ranked-experiment', () =>
  z.object({ experiment_id: Ulid, config_id: z.string().nullable(), best: Best }),
);
export type RankedExperiment = z.infer<typeof ranked.schema>;

/**
 * 16 hexadecimal digits that sort as the numbers do (IEEE 754 order: the sign bit is flipped, negative numbers are
 * inverted whole).
 */
export function sortableNumber(value: number): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value === 0 ? 0 : value);
  const bits = view.getBigUint64(0);
  const sortable = bits >> 63n === 1n ? bits ^ 0xffff_ffff_ffff_ffffn : bits | (1n << 63n);
  return sortable.toString(16).padStart(16, '0');
}

type JudgedBy = Experiment['criterion'];

/** A name of the project's own is no part of a key, and either direction of it is a ranking of its own. */
const rankingName = ({ name, goal, own = false }: JudgedBy): string =>
  own ? createHash('sha256').update(`${goal} ${name}`).digest('hex').slice(0, 32) : name;

const partition = (project_id: string, criterion: JudgedBy): string =>
  `EXPERIMENT_RANKING#${project_id}#${rankingName(criterion)}`;

function rankingKey({ project_id, experiment_id, criterion }: Experiment, best: Best): Key {
  const value = criterion.goal === 'maximize' ? -best.value : best.value;
  return { pk: partition(project_id, criterion), sk: `${sortableNumber(value)}#${experiment_id}` };
}

/** Ranks an experiment that succeeded, best first. */
export const rank = (experiment: Experiment, best: Best): Write => ({
  put: ranked.item(rankingKey(experiment, best), {
    experiment_id: experiment.experiment_id,
    config_id: experiment.config_id,
    best,
  }),
});

/** Takes an experiment out of the ranking; no error where it never was in it. */
export const unrank = (experiment: Experiment): Write[] =>
  experiment.best === null ? [] : [{ delete: rankingKey(experiment, experiment.best) }];

/** The best experiment of a project by a criterion: a page of one, or none, with those before it that are unreadable. */
export async function findBest(
  records: TableReader<'records'>,
  project_id: string,
  criterion: JudgedBy,
): Promise<Page<RankedExperiment>> {
  const unreadable: UnreadableRecordError[] = [];
  let after: string | undefined;
  do {
    const page = readPage(
      await records.query({ pk: partition(project_id, criterion), limit: 1, after }),
      ranked.parse,
    );
    unreadable.push(...(page.unreadable ?? []));
    after = page.next;
    if (page.items.length > 0) return { ...page, unreadable };
  } while (after !== undefined);
  return { items: [], next: undefined, unreadable };
}
