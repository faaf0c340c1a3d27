import type { Settings } from '../core/settings.ts';
import type { Experiment } from '../data/experiments/experiment.ts';
import { readTracking } from '../data/experiments/tracking.ts';
import { readCriterion } from '../data/projects/first-criterion.ts';
import type { TableReader } from '../data/table/table.ts';
import { Reply } from '../http/definition/reply.ts';
import { placeOneInLine } from '../jobs/line.ts';
import { MetricRanker } from '../metrics/metric-ranker.ts';
import { showExperiment } from './experiment-answer.ts';

interface Answering {
  records: TableReader<'records'>;
  settings: Settings;
  now(): Date;
}

/** Answer one experiment as it is at this moment. */
export async function answerExperiment({ records, settings, now }: Answering, experiment: Experiment) {
  const { project_id, experiment_id, version } = experiment;
  const [placed, tracking, criterion] = await Promise.all([
    placeOneInLine(records, settings.limits, experiment),
    readTracking(records, project_id, experiment_id),
    readCriterion(records, project_id),
  ]);
  return Reply.json(showExperiment(placed, now(), tracking, new MetricRanker(criterion)), { version });
}
