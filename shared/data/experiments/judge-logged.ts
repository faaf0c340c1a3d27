import { judgeRules, type RuleProgress } from '../../run-rules/judge-rules.ts';
import { progressOf, withMet } from '../../run-rules/recorded-rule.ts';
import { metReason } from '../../run-rules/rule-text.ts';
import { noticeWrites } from '../hooks/notice.ts';
import { isFinal, rankOf } from '../jobs/job-status.ts';
import type { MetricPoint } from '../metrics/metric-summary.ts';
import type { TableReader, Write } from '../table/table.ts';
import { type Experiment, experimentKey } from './experiment.ts';

/**
 * Judge the rules of an experiment that a client records by points that are stored next. Return the writes of the same
 * transaction: the progress of the rules, what is met, and what hooks are told. They fail if the experiment has changed.
 *
 * The service cannot end a program that runs elsewhere, so a rule that stops makes the experiment CANCELLED.
 */
export async function judgeLogged(
  records: TableReader<'records'>,
  experiment: Experiment,
  points: readonly MetricPoint[],
  now: Date,
): Promise<Write[]> {
  const { project_id, experiment_id: subject, version, rules = [] } = experiment;
  if (rules.length === 0 || isFinal(experiment.status)) return [];
  const { progress, met } = judgeRules(
    rules.map(({ rule }) => rule),
    experiment.rule_progress === undefined
      ? progressOf(rules, now.getTime())
      : (JSON.parse(experiment.rule_progress) as RuleProgress),
    { now: now.getTime(), points },
  );
  const told: Write[] = [];
  let stopped: string | undefined;
  for (const { index, reason } of met) {
    const rule = rules[index]?.rule;
    if (rule === undefined) continue;
    const sentence = metReason(rule, reason);
    if (rule.do === 'stop') stopped ??= sentence;
    else {
      const facts = { reason: sentence, rule };
      told.push(...(await noticeWrites(records, { type: 'metric.rule', project_id, subject, facts }, now)));
    }
  }
  if (stopped !== undefined)
    told.push(...(await noticeWrites(records, { type: 'experiment.stopped', project_id, subject }, now)));
  const set = {
    rule_progress: JSON.stringify(progress),
    ...(met.length > 0 && { rules: withMet(rules, met, now) }),
    ...(stopped !== undefined && {
      status: 'CANCELLED',
      status_rank: rankOf('CANCELLED'),
      status_reason: stopped,
      stopped_at: now.toISOString(),
    }),
  };
  return [
    {
      update: experimentKey(project_id, subject),
      change: { set, ...(met.length > 0 && { add: { version: 1 } }) },
      if: { equals: { version } },
    },
    ...told,
  ];
}
