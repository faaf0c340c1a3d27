import { createHash } from 'node:crypto';
import * as z from 'zod';
import { Ulid, ulidPattern } from '../../../shared/core/formats.ts';
import { badRequest } from '../../../shared/core/service-error.ts';
import { readUsers } from '../../../shared/data/accounts/needs.ts';
import { experimentsPartition, findExperiments } from '../../../shared/data/experiments/experiment.ts';
import { readTrackingOfEach } from '../../../shared/data/experiments/tracking.ts';
import { isFinal } from '../../../shared/data/jobs/job-status.ts';
import { trackingPartition } from '../../../shared/data/metrics/metric-summaries.ts';
import { readCriterion } from '../../../shared/data/projects/inferred-criterion.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { RecentValues } from '../../../shared/data/table/recent-values.ts';
import { ExperimentAnswer, showExperiment } from '../../../shared/experiments/experiment-answer.ts';
import { Cursor, encodeCursor } from '../../../shared/http/definition/cursor.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { answerList } from '../../../shared/http/definition/pagination.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { fieldsParameter, maskOfFields } from '../../../shared/http/fields-mask/fields-parameter.ts';
import type { FieldsMask } from '../../../shared/http/fields-mask/parse-mask.ts';
import { MetricRanker } from '../../../shared/metrics/metric-ranker.ts';
import { listPage, withTracking } from '../search/answer-search.ts';
import { awaitNews, type Mark, type News, retrySeconds } from './await-news.ts';
import { LivePoint, parsePointPosition, pointPositionText, readLivePoints } from './read-live-points.ts';

const name = 'listLiveExperiments';
/** Newest experiments of an answer, and further ones that a request names. */
const maxNewest = 60;
const maxOthers = 50;
const idList = new RegExp(`^${ulidPattern}(,${ulidPattern}){0,${maxOthers - 1}}$`);
const Ids = z.string().regex(idList, `must be 1 to ${maxOthers} ids of experiments, separated by commas`);

/** An experiment as a row of a table. The other fields would be most of the bytes. */
const Row = ExperimentAnswer.pick({
  experiment_id: true,
  project_id: true,
  user: true,
  name: true,
  kind: true,
  status: true,
  status_reason: true,
  config_id: true,
  created_at: true,
  started_at: true,
  stopped_at: true,
  duration: true,
  cost: true,
  best: true,
  params: true,
  tags: true,
  metrics: true,
  sweep_id: true,
  trial: true,
  outcome: true,
  sparkline: true,
  warnings: true,
});

export const endpoint = defineEndpoint({
  name,
  method: 'GET',
  path: '/projects/{project_id}/experiments/live',
  summary: "The project's newest experiments, once they have changed",
  description: `Returns the newest ${maxNewest} experiments and those of \`experiments\`. Ask again with \`after\` of the answer, once its \`retry_after\` seconds have passed. On one machine the service then waits up to 20 s for a change; on AWS it answers at once.`,
  allow: 'viewer',
  project: 'viewer',
  needs: { records: writeRecords, accounts: readUsers },
  input: {
    path: projectPath,
    query: z.strictObject({
      after: Cursor.optional().describe('`after` of the previous answer.'),
      experiments: Ids.optional().describe(
        `Older experiments to return too, such as those that still run: up to ${maxOthers}, separated by commas.`,
      ),
      values: fieldsParameter(Row).describe(
        'Params, tags and metrics that each experiment has, such as `params.lr,metrics.loss`. Default: all. The other fields are always there.',
      ),
      points: Ids.optional().describe(
        `Return instead the new points of these running experiments: up to ${maxOthers}, separated by commas. The first answer has none; read the points of before with \`…/metrics\`.`,
      ),
    }),
  },
  work: `page: ${maxNewest} and ${maxOthers} experiments, 4 MB; or 8,000 points`,
  writes: 'marks the leases of running jobs whose points are asked for, which then send them',
  output: {
    200: z.object({
      experiments: z
        .array(Row)
        .nullable()
        .describe('The newest experiments, newest first. Null if nothing has changed since `after`.'),
      more: z.boolean().describe('Whether the project has older ones.'),
      points: z
        .array(LivePoint)
        .describe("New points in order of arrival, also the machine's, `system/…`. Empty without `points`."),
      others: z.array(Row).describe('Those of the named experiments for which the answer has room.'),
      gone: z.array(Ulid).describe('Named experiments that were deleted.'),
      after: z.string().describe('Cursor of the next request.'),
      retry_after: z.number().int().describe('Seconds to wait before the next request.'),
    }),
  },

  async handle({ path, query }, context) {
    const { records, patience, now } = context;
    const { project_id } = path;
    if (query.points !== undefined) return answerPoints(context, path, query, query.points);
    const [, answered_at = '', digest] = positionPattern.exec(query.after ?? '') ?? [];
    if (query.after !== undefined && digest === undefined)
      throw badRequest([{ in: 'query', name: 'after', message: 'is not a cursor of this list' }]);
    const sources = [experimentsPartition(project_id), trackingPartition(project_id)];
    const ids = query.experiments?.split(',') ?? [];
    const mark = () =>
      listings.get(records, `${project_id} ${query.experiments} ${query.values}`, sources, () =>
        readListing(context, project_id, ids, maskOfFields({ fields: query.values })),
      );
    const look = async () => {
      const listing = await mark();
      const news: News = listing.text === digest ? 'none' : 'slow';
      return { listing, news };
    };
    const first = await look();
    const isPolled = [...first.listing.experiments, ...first.listing.others].some(
      ({ kind, status }) => kind !== 'logged' && !isFinal(status),
    );
    const waited =
      digest === undefined || patience === undefined
        ? undefined
        : await awaitNews(patience, first, {
            sources,
            isPolled,
            known: first.listing,
            answered_at: Number(answered_at),
            mark,
            look,
          });
    const { listing } = waited ?? first;
    const { experiments, more, others, gone, text, unreadable } = listing;
    const isNew = text !== digest;
    const mayAskAtOnce = patience !== undefined && (waited !== undefined || digest === undefined);
    const seconds = isPolled ? retrySeconds.running : retrySeconds.idle;
    return Reply.json(
      {
        experiments: isNew ? experiments : null,
        more,
        points: [],
        others: isNew ? others : [],
        gone,
        after: encodeCursor({ name, path, query }, `${now().getTime()}!${text}`),
        retry_after: mayAskAtOnce ? 0 : seconds,
      },
      { unreadable },
    );
  },
});

async function answerPoints(
  context: Parameters<typeof readLivePoints>[0],
  path: { project_id: string },
  query: { after?: string | undefined },
  asked: string,
) {
  const { patience, now } = context;
  const ids = [...new Set(asked.split(','))];
  const position = query.after === undefined ? undefined : parsePointPosition(query.after, ids.length);
  if (query.after !== undefined && position === undefined)
    throw badRequest([{ in: 'query', name: 'after', message: 'is not a cursor of this list' }]);
  const live = await readLivePoints(context, path.project_id, ids, position);
  const { points, gone, cells, isMore, hasWaited, isPolled } = live;
  const mayAskAtOnce = isMore || (patience !== undefined && (hasWaited || position === undefined));
  const text = pointPositionText({ answered_at: now().getTime(), cells });
  return {
    experiments: null,
    more: false,
    points,
    others: [],
    gone,
    after: encodeCursor({ name, path, query }, text),
    retry_after: mayAskAtOnce ? 0 : isPolled ? retrySeconds.points : retrySeconds.running,
  };
}

/** Time of the previous answer, and the digest of what it showed. */
const positionPattern = /^(\d{1,15})!([\w-]{16})$/;

type Shown = z.input<typeof Row>;

interface Listing extends Mark {
  experiments: Shown[];
  more: boolean;
  others: Shown[];
  gone: string[];
  unreadable: Reply<unknown>['unreadable'];
}

/** The listings of this process. All followers of a project share one. */
const listings = new RecentValues<Listing>();

async function readListing(
  context: Listed,
  project_id: string,
  ids: readonly string[],
  asked: FieldsMask | undefined,
): Promise<Listing> {
  const { records, now } = context;
  const at = performance.now();
  const ranker = new MetricRanker(await readCriterion(records, project_id));
  const show = ({ experiment, tracking, usernames }: Tracked): Shown =>
    rowOf(showExperiment(experiment, now(), tracking, { ranker, usernames, asked }));
  const newest = await answerList(
    { limit: maxNewest },
    {
      fetch: (page) => listPage(records, project_id, page),
      complete: (page) => withTracking(context, project_id, page),
      keyOf: ({ experiment }) => experiment.experiment_id,
      show,
    },
  );
  const experiments = newest.body.kind === 'json' ? newest.body.value : [];
  const known = new Set(experiments.map(({ experiment_id }) => experiment_id));
  const wanted = [...new Set(ids)].filter((id) => !known.has(id));
  const found = await findExperiments(records, project_id, wanted);
  const tracked = await withTracking(context, project_id, { items: found, next: undefined }, (some) =>
    readTrackingOfEach(
      records,
      some.map((experiment_id) => ({ project_id, experiment_id })),
    ),
  );
  const present = new Set(tracked.items.map(({ experiment }) => experiment.experiment_id));
  let room = maxBytes - bytesOf(experiments);
  const others = tracked.items.map(show).filter((row) => {
    room -= bytesOf(row);
    return room >= 0;
  });
  const gone = wanted.filter((id) => !present.has(id));
  const timeless = [experiments, others].map((rows) => rows.map(withoutClock));
  const digest = createHash('sha256').update(JSON.stringify([timeless, gone]));
  return {
    at,
    text: digest.digest('base64url').slice(0, 16),
    experiments,
    more: newest.next !== undefined,
    others,
    gone,
    unreadable: [...newest.unreadable, ...(tracked.unreadable ?? [])],
  };
}

type Listed = Parameters<typeof withTracking>[0] & { now(): Date };
type Tracked = Awaited<ReturnType<typeof withTracking>>['items'][number];

const rowFields = Object.keys(Row.shape);
const rowOf = (shown: z.input<typeof ExperimentAnswer>): Shown =>
  Object.fromEntries(Object.entries(shown).filter(([field]) => rowFields.includes(field))) as Shown;

/** Bytes of the rows of an answer. Escaped for Lambda, they usually still fit. */
const maxBytes = 4_000_000;
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** A running experiment gets older all the time, which is no news. */
const withoutClock = ({ duration: _, cost: __, ...rest }: Shown): Partial<Shown> => rest;
