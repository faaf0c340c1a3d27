import type { Settings } from '../../shared/core/settings.ts';
import { MetricRanker } from '../../shared/criteria/metric-ranker.ts';
import type { Experiment } from '../../shared/data/experiment.ts';
import { readCriterion } from '../../shared/data/first-criterion.ts';
import type { TableReader } from '../../shared/data/table.ts';
import { readTracking } from '../../shared/data/tracking.ts';
import { Reply } from '../../shared/http/reply.ts';
import { placeOneInLine } from '../../shared/jobs/place-in-line.ts';
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
