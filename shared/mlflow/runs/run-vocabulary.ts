import type { ExperimentRow, RowDataset } from '../../data/experiments/experiment-row.ts';
import type { Attribute, Vocabulary } from '../../search/vocabulary.ts';
import { noteTag } from '../projects/show-experiment.ts';
import { artifactUriOf, runIdOf } from '../protocol/ids.ts';
import { runNameTag, runStatusOf, userTag } from './show-run.ts';

type Read = Attribute<ExperimentRow>['read'];

const runName: Attribute<ExperimentRow> = { type: 'text', read: ({ name }) => name };
const start: Attribute<ExperimentRow> = {
  type: 'time',
  read: ({ started_at, created_at }) => Date.parse(started_at ?? created_at),
};
const end: Read = ({ stopped_at }) => (stopped_at === null ? null : Date.parse(stopped_at));

function tagOf(row: ExperimentRow, name: string): string | undefined {
  if (name === runNameTag) return row.name;
  return name === noteTag ? (row.note ?? undefined) : row.tag(name);
}

const ofDatasets =
  (read: (dataset: RowDataset) => string | null) =>
  ({ datasets = [] }: ExperimentRow): string[] =>
    datasets.flatMap((dataset) => read(dataset) ?? []);

/** What filters and orders of runs may name, with the values that MLflow gives them. */
export const runVocabulary: Vocabulary<ExperimentRow> = {
  attributes: {
    run_id: { type: 'text', read: runIdOf },
    run_name: runName,
    'run name': runName,
    'Run name': runName,
    'Run Name': runName,
    status: { type: 'text', read: ({ status }) => runStatusOf(status) },
    user_id: { type: 'text', read: (row) => row.tag(userTag) ?? '' },
    artifact_uri: { type: 'text', read: artifactUriOf },
    start_time: start,
    created: start,
    Created: start,
    end_time: { type: 'time', read: end },
  },
  groups: {
    metrics: { type: 'number', read: (row, name) => row.lastOf(name) },
    params: { type: 'text', read: (row, name) => row.param(name) },
    tags: { type: 'text', read: tagOf },
  },
  lists: {
    'datasets.name': ofDatasets(({ name }) => name),
    'datasets.digest': ofDatasets(({ digest }) => digest),
    'datasets.context': ofDatasets(({ context }) => context),
  },
  groupAliases: {
    dataset: 'datasets',
    metric: 'metrics',
    parameters: 'params',
    parameter: 'params',
    param: 'params',
    tag: 'tags',
  },
};
