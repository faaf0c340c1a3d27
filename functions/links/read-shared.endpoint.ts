import * as z from 'zod';
import { Timestamp, Ulid } from '../../shared/core/formats.ts';
import { breathe } from '../../shared/core/stop-signal.ts';
import { readUsers } from '../../shared/data/accounts/needs.ts';
import { readUsernames } from '../../shared/data/accounts/user.ts';
import { ExperimentKind } from '../../shared/data/experiments/experiment.ts';
import { JobStatus } from '../../shared/data/jobs/job-status.ts';
import { readCriterion } from '../../shared/data/projects/inferred-criterion.ts';
import type { Link } from '../../shared/data/projects/link.ts';
import type { Project } from '../../shared/data/projects/project.ts';
import type { Report } from '../../shared/data/projects/report.ts';
import { RunOutcome } from '../../shared/data/sweeps/sweep-run.ts';
import { readRecords } from '../../shared/data/table/needs.ts';
import { BestAnswer } from '../../shared/experiments/best-answer.ts';
import { MetricSummaryAnswer, showExperiment } from '../../shared/experiments/experiment-answer.ts';
import { payloadBytes } from '../../shared/http/answer/payload-bytes.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { Reply } from '../../shared/http/definition/reply.ts';
import { MetricRanker } from '../../shared/metrics/metric-ranker.ts';
import type { Discretion } from './hidden-params.ts';
import { discretionOf, requireLink, sharedExperiments, sharedThrottle } from './shared-link.ts';
import { requireSharedReport } from './shared-report.ts';

const Texts = z.record(z.string(), z.string());

/** What a link shows of an experiment. Each field is named here, so no other one is told. */
const SharedExperiment = z
  .object({
    experiment_id: Ulid,
    name: z.string(),
    kind: ExperimentKind,
    status: JobStatus,
    outcome: RunOutcome.nullable(),
    started_at: Timestamp.nullable(),
    duration: z.number().nullable(),
    params: Texts,
    metrics: z.record(z.string(), MetricSummaryAnswer),
    best: BestAnswer.nullable(),
    user: z.string().nullable(),
    commit: z.string().nullable(),
    note: z.string().nullable(),
    tags: Texts,
  })
  .meta({ id: 'SharedExperiment' });

export const endpoint = defineEndpoint({
  name: 'readShared',
  method: 'GET',
  path: '/links/shared',
  summary: 'What a link shows',
  description:
    'For `Authorization: Link <session>`. Of an anonymous link, `user`, `commit`, `note`, `project` and all tags are missing.',
  allow: 'anyone',
  throttle: sharedThrottle,
  needs: { records: readRecords, accounts: readUsers },
  input: {},
  work: 'heavy: a search of one project; 50 experiments',
  isHeavy: () => true,
  output: {
    200: z.object({
      kind: z.enum(['experiment', 'comparison', 'sweep', 'view', 'report']),
      project: z.string().nullable(),
      title: z.string().nullable().describe('Name of the sweep or view, or title of the report.'),
      text: z.string().nullable().describe('Text of the report.'),
      metric: z.string().nullable().describe('Metric that ranks the experiments.'),
      goal: z.enum(['maximize', 'minimize']).nullable(),
      anonymous: z.boolean(),
      files: z.boolean(),
      expires_at: Timestamp,
      experiments: z.array(SharedExperiment),
      complete: z.boolean().describe('Whether these are all. It shows at most 50, and at most 4 MB.'),
    }),
  },
  problems: ['not-found'],

  async handle(_, context) {
    const { records, accounts, now } = context;
    const shared = await requireLink(context);
    const { link, project } = shared;
    if (link.subject.kind === 'report')
      return answerReport(await requireSharedReport(context, shared), shared);
    const { all, isMore, sweep } = await sharedExperiments(context, shared);
    const { subject, project_id, anonymous } = link;
    const [told, criterion, usernames] = await Promise.all([
      discretionOf(context, shared, all),
      readCriterion(records, project_id),
      anonymous
        ? new Map<string, string>()
        : readUsernames(accounts, [...new Set(all.map(({ experiment }) => experiment.user_id))]),
    ]);
    const judgedBy = sweep?.criterion ?? criterion;
    const ranker = new MetricRanker(judgedBy);
    const name = sweep?.name ?? (subject.kind === 'view' ? subject.name : null);
    const at = now();
    const experiments: z.input<typeof SharedExperiment>[] = [];
    let bytes = 0;
    for (const { experiment, tracking } of all) {
      // An experiment may have hundreds of kilobytes of texts to search.
      await breathe();
      const answer = showExperiment(experiment, at, tracking, { ranker, usernames });
      const row = shown(answer, { link, told, index: experiments.length });
      bytes += payloadBytes(JSON.stringify(row));
      if (bytes > maxBytes) break;
      experiments.push(row);
    }
    return Reply.json(
      {
        kind: subject.kind,
        project: anonymous ? null : project.project_name,
        title: name !== null && told.shows(name) ? name : null,
        text: null,
        metric: told.shows(judgedBy.name) ? judgedBy.name : null,
        goal: judgedBy.goal,
        anonymous,
        files: link.files,
        expires_at: link.expires_at,
        experiments,
        complete: !isMore && experiments.length === all.length,
      },
      { headers: { 'Cache-Control': 'no-store' } },
    );
  },
});

/** Build the response for a report. Its blocks are read one by one. */
const answerReport = (
  { report, text }: { report: Report; text: string },
  { link: { files, anonymous, expires_at }, project }: { link: Link; project: Project },
) =>
  Reply.json(
    {
      ...{ kind: 'report' as const, project: project.project_name, title: report.title, text },
      ...{ metric: null, goal: null, anonymous, files, expires_at, experiments: [], complete: true },
    },
    { headers: { 'Cache-Control': 'no-store' } },
  );

/** Maximum bytes of the experiments in a payload. One has less than 1 MB. */
const maxBytes = 4_000_000;

function shown(
  { git, best, ...experiment }: ReturnType<typeof showExperiment>,
  { link, told, index }: { link: Link; told: Discretion; index: number },
): z.input<typeof SharedExperiment> {
  const { experiment_id, name, kind, status, outcome, started_at, duration, params, metrics } = experiment;
  const kept = Object.entries(params).filter(([param, value]) => told.showsParam(param, value));
  const tags = Object.entries(experiment.tags).filter((tag) => tag.every((text) => told.shows(text)));
  const hidden = link.anonymous ? { user: null, commit: null, note: null, tags: {} } : undefined;
  return {
    ...{ experiment_id, kind, status, outcome, started_at, duration },
    name: told.shows(name) ? name : `Experiment ${index + 1}`,
    params: Object.fromEntries(kept),
    metrics: Object.fromEntries(Object.entries(metrics).filter(([metric]) => told.shows(metric))),
    best: best !== null && told.shows(best.metric) && told.shows(best.criterion) ? best : null,
    ...(hidden ?? {
      user: experiment.user,
      commit: git?.commit ?? null,
      note: experiment.note !== null && told.shows(experiment.note) ? experiment.note : null,
      tags: Object.fromEntries(tags),
    }),
  };
}
