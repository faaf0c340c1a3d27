import { parseTrust } from '../../../shared/data/accounts/ci-trust.ts';
import { listClosedAccounts } from '../../../shared/data/accounts/closed-account.ts';
import { findClaim } from '../../../shared/data/accounts/idempotency.ts';
import { findIdentity, signInKey } from '../../../shared/data/accounts/identity.ts';
import { findIssuerKeys } from '../../../shared/data/accounts/issuer.ts';
import { findPicture } from '../../../shared/data/accounts/picture.ts';
import { listSessions } from '../../../shared/data/accounts/session.ts';
import { changeAttempts, isKnown } from '../../../shared/data/accounts/sign-in-throttle.ts';
import { authenticateToken, issueNamedToken, parseIssued } from '../../../shared/data/accounts/token.ts';
import { findCredentials, findUser, findUserId, readPopulation } from '../../../shared/data/accounts/user.ts';
import { findArtifact } from '../../../shared/data/experiments/artifact.ts';
import { catalogueLists, segmentRows } from '../../../shared/data/experiments/catalogue.ts';
import { readMarks } from '../../../shared/data/experiments/catalogue-mark.ts';
import { findExperiment } from '../../../shared/data/experiments/experiment.ts';
import { listExportSteps } from '../../../shared/data/experiments/export-step.ts';
import { findLoggedModel } from '../../../shared/data/experiments/logged-model.ts';
import { parseNewest } from '../../../shared/data/experiments/newest-of-projects.ts';
import { findFields, readTracking } from '../../../shared/data/experiments/tracking.ts';
import { findDelivery, listPending } from '../../../shared/data/hooks/delivery.ts';
import { findLane } from '../../../shared/data/hooks/delivery-lane.ts';
import { isAskedFor, readHooks } from '../../../shared/data/hooks/hook.ts';
import { listNotices } from '../../../shared/data/hooks/notice.ts';
import { findBudget, readCosts } from '../../../shared/data/jobs/budget.ts';
import { auditCluster } from '../../../shared/data/jobs/cluster-claim.ts';
import { findUnfinished, unfinishedJobs } from '../../../shared/data/jobs/job.ts';
import { readJobConfig } from '../../../shared/data/jobs/job-config.ts';
import { readLog } from '../../../shared/data/jobs/job-log.ts';
import { readJobVariables } from '../../../shared/data/jobs/job-variables.ts';
import { findLease } from '../../../shared/data/jobs/lease.ts';
import { auditVcpus } from '../../../shared/data/jobs/vcpu-shares.ts';
import { findLine, frontOf, readyHeads } from '../../../shared/data/jobs/waiting-line.ts';
import { findPass } from '../../../shared/data/lists/pass-lease.ts';
import { readPosition, type WatchedPage } from '../../../shared/data/lists/watched-list.ts';
import { readMetrics } from '../../../shared/data/metrics/job-metrics.ts';
import { pointLists } from '../../../shared/data/metrics/point-blocks.ts';
import { readReceipt, requireCompression } from '../../../shared/data/models/compression.ts';
import { findModel } from '../../../shared/data/models/model.ts';
import { findModelVersion, findRegisteredModel } from '../../../shared/data/models/registered-model.ts';
import { findServedVersion, findServing } from '../../../shared/data/models/serving.ts';
import { parseServingCounts } from '../../../shared/data/models/serving-counts.ts';
import { parseBlock } from '../../../shared/data/packed/block-list.ts';
import { findConfig, lastDeletedVersion, readConfigContent } from '../../../shared/data/projects/config.ts';
import { findEnvironment, findPack } from '../../../shared/data/projects/environment.ts';
import { parseFirstCriterion } from '../../../shared/data/projects/inferred-criterion.ts';
import { listLinks } from '../../../shared/data/projects/link.ts';
import { findMember } from '../../../shared/data/projects/member.ts';
import { findClaimedName, parseCounters, requireProject } from '../../../shared/data/projects/project.ts';
import { findExport, findImport, listArchiveWork } from '../../../shared/data/projects/project-archives.ts';
import { listDue, listPurges } from '../../../shared/data/projects/purge.ts';
import { findFrozen, requireReport } from '../../../shared/data/projects/report.ts';
import { findDataset, findSource } from '../../../shared/data/projects/upload.ts';
import { findVariablesKey, readVariables } from '../../../shared/data/projects/variable.ts';
import { countActive } from '../../../shared/data/schedules/active-schedules.ts';
import { findSchedule, readScheduleConfig } from '../../../shared/data/schedules/schedule.ts';
import { listDue as listDueTimes } from '../../../shared/data/schedules/schedule-time.ts';
import { findRule, listReports } from '../../../shared/data/sweeps/rung.ts';
import { findSweep } from '../../../shared/data/sweeps/sweep.ts';
import { findRuns, readSweepConfig } from '../../../shared/data/sweeps/sweep-run.ts';
import { listTurns } from '../../../shared/data/sweeps/sweep-turn.ts';
import type { Item, Page, TableWriter } from '../../../shared/data/table/table.ts';

export interface Tables {
  accounts: TableWriter<'accounts'>;
  records: TableWriter<'records'>;
}

type Reader = (tables: Tables, item: Item) => Promise<unknown>;

/** The sweep whose id the sort key begins with. */
const sweepOf = (item: Item) => ({ project_id: ownerOf(item), sweep_id: item.sk.split('#')[0] ?? '' });
const ownerOf = ({ pk }: Item): string => pk.split('#')[1] ?? '';
const text = (item: Item, name: string): string => String(item[name]);
/** A list of records, which leaves out those that it cannot read. */
function wholePage<T>(page: Page<T>): Page<T> {
  const [error] = page.unreadable ?? [];
  if (error !== undefined) throw error;
  return page;
}

/** A page of a watched list; the error of its first row that cannot be read. */
function readable<P extends Pick<WatchedPage<unknown>, 'unreadable'>>(page: P): P {
  for (const { error } of page.unreadable) throw error;
  return page;
}
const all = { limit: 1000, maxBytes: 1_000_000 };

/** How the service reads a stored item of each kind, found by where the item lies. */
export const readers: Readonly<Record<string, Reader>> = {
  serving: ({ records }, { sk }) => findServing(records, sk),
  budget: ({ records }, item) => findBudget(records, ownerOf(item)),
  'month-cost': async ({ records }, item) =>
    (await readCosts(records, [{ owner_id: ownerOf(item), period: item.sk }]))[0]?.cost,
  'served-version': ({ records }, item) =>
    findServedVersion(records, ownerOf(item), item.sk.split('#')[1] ?? ''),
  'serving-counts': async ({ records }, { pk, sk }) => parseServingCounts((await records.get({ pk, sk }))!),
  project: ({ records }, { sk }) => requireProject(records, sk),
  counters: async ({ records }, { pk, sk }) => parseCounters((await records.get({ pk, sk }))!),
  config: ({ records }, item) => findConfig(records, ownerOf(item), item.sk),
  async 'config-content'({ records }, item) {
    const [config_id = '', generation = '', version = ''] = item.sk.split('#');
    const config = { project_id: ownerOf(item), config_id, generation, version: Number(version) };
    return readConfigContent(records, config as never);
  },
  environment: ({ records }, item) => findEnvironment(records, ownerOf(item)),
  'environment-pack': ({ records }, item) => findPack(records, ownerOf(item), item.sk),
  upload: ({ records }, item) =>
    item.sk === 'source' ? findSource(records, ownerOf(item)) : findDataset(records, ownerOf(item), item.sk),
  experiment: ({ records }, item) => findExperiment(records, ownerOf(item), item.sk),
  'experiment-metrics': async ({ records }, item) => ({
    metrics: Object.fromEntries(
      (await readTracking(records, ownerOf(item), item.sk.split('#')[0] ?? '')).metrics,
    ),
  }),
  'experiment-fields': ({ records }, item) => findFields(records, ownerOf(item), item.sk.split('#')[0] ?? ''),
  'project-name': async ({ records }, item) => {
    const project_id = await findClaimedName(records, ownerOf(item), 'churn');
    return project_id && { project_id };
  },
  'archive-work': async ({ records }) => readable(await listArchiveWork(records, undefined)),
  'project-export': ({ records }, item) => findExport(records, ownerOf(item)),
  'project-import': ({ records }, item) => findImport(records, ownerOf(item), item.sk),
  'registered-model': ({ records }, item) => findRegisteredModel(records, item.sk),
  'model-version': ({ records }, item) => findModelVersion(records, item.sk.split('#')[0] ?? '', 1),
  'logged-model': ({ records }, item) => findLoggedModel(records, ownerOf(item), item.sk),
  'catalogue-mark': async ({ records }, item) => {
    const { stamp, ...mark } = (await readMarks(records, ownerOf(item)))[0]!;
    return mark;
  },
  'points-manifest': ({ records }, item) => pointLists.readManifest(records, item.pk),
  'catalogue-manifest': ({ records }, item) => catalogueLists.readManifest(records, item.pk),
  'catalogue-newest': async ({ records }, { pk, sk }) => parseNewest((await records.get({ pk, sk }))!),
  block: async ({ records }, { pk, sk }) => ({
    rows: segmentRows('p', parseBlock((await records.get({ pk, sk }))!)).block.map((row) => ({
      experiment_id: row.experiment_id,
      tags: Object.fromEntries(row.tags),
      params: Object.fromEntries(row.params),
      metrics: Object.fromEntries(row.metrics),
    })),
  }),
  'deleted-config': async ({ records }, item) => ({
    version: await lastDeletedVersion(records, ownerOf(item), item.sk),
  }),
  'job-config': ({ records }, item) => readJobConfig(records, ownerOf(item)),
  'job-variables': ({ records }, { pk }) => readJobVariables(records, pk),
  variables: ({ records }, item) => readVariables(records, ownerOf(item)),
  'variables-key': ({ accounts }) => findVariablesKey(accounts),
  'unfinished-job': ({ records }, { sk }) => findUnfinished(records, sk),
  lease: ({ records }, item) => findLease(records, ownerOf(item), Number(item.sk.split('#')[1])),
  points: ({ records }, item) => readMetrics(records, ownerOf(item), undefined, all),
  chunk: ({ records }, item) => readLog(records, ownerOf(item), 0, undefined, all),
  artifact: ({ records }, item) => findArtifact(records, ownerOf(item), text(item, 'path')),
  checkpoint: ({ records }, item) => findArtifact(records, ownerOf(item), text(item, 'path'), 'checkpoint'),
  'first-criterion': async ({ records }, { pk, sk }) => parseFirstCriterion((await records.get({ pk, sk }))!),
  purge: async ({ records }) => readable(await listPurges(records, undefined)),
  retained: async ({ records }) => readable(await listDue(records, new Date(), undefined)),
  strategy: ({ records }, item) => requireCompression(records, ownerOf(item) as 'prune', item.sk),
  receipt: ({ records }, item) => readReceipt(records, ownerOf(item), 1),
  member: ({ records }, item) => findMember(records, ownerOf(item), item.sk),
  model: ({ records }, { sk }) => findModel(records, sk),
  'idempotency-claim': ({ records }, { pk, sk }) => findClaim(records, { pk, sk }),
  user: ({ accounts }, { sk }) => findUser(accounts, sk),
  username: ({ accounts }, item) => findUserId(accounts, ownerOf(item)),
  password: ({ accounts }) => findCredentials(accounts, 'ada'),
  population: ({ accounts }) => readPopulation(accounts),
  token: ({ accounts }, item) =>
    authenticateToken(accounts, `${ownerOf(item)}.${'a'.repeat(43)}`, new Date('2026-01-02T03:05:00.000Z')),
  session: async ({ accounts }, item) => {
    const owner = { user_id: ownerOf(item), credentials_version: 1 };
    const now = new Date(Date.parse(text(item, 'created_at')) + 1000);
    const page = await listSessions(accounts, owner, now, { limit: 10, after: undefined });
    return wholePage(page).items[0];
  },
  'issued-token': async ({ accounts }, { pk, sk }) => parseIssued((await accounts.get({ pk, sk }))!),
  async 'named-tokens'({ accounts }, item) {
    const owner = { user_id: ownerOf(item), credentials_version: 1 };
    const now = new Date('2026-01-02T03:05:00.000Z');
    const token_id = '01m7zd37c8ehm933t8h6rtmjze';
    return (await issueNamedToken(accounts, owner, { token_id, now, seconds: 60, name: 'ci' }))?.token;
  },
  picture: ({ accounts }, item) => findPicture(accounts, ownerOf(item)),
  async 'sign-in-attempts'({ accounts }) {
    let seen: unknown;
    await changeAttempts(accounts, [{ address: '192.0.2.1' }], (counts) => {
      seen = counts;
      return undefined;
    });
    return seen;
  },
  async 'known-sign-in'({ accounts }) {
    const pair = { address: '192.0.2.1', username: 'ada' };
    return { known: await isKnown(accounts, pair, new Date('2026-01-02T03:05:00.000Z')) };
  },
  'ci-trust': async ({ accounts }, { pk, sk }) => parseTrust((await accounts.get({ pk, sk }))!),
  identity: async ({ accounts }, item) => ({
    user_id: await findIdentity(accounts, { issuer: text(item, 'issuer'), subject: text(item, 'subject') }),
  }),
  'sign-in-key': ({ accounts }) => signInKey.find(accounts),
  'issuer-keys': ({ accounts }, item) => findIssuerKeys(accounts, text(item, 'issuer')),
  'closed-account': async ({ accounts }) => readable(await listClosedAccounts(accounts, undefined)),
  'limit-share': ({ records }) => auditVcpus(records),
  'waiting-line': ({ records }, item) => findLine(records, ownerOf(item)),
  'waiting-job': ({ records }, item) => frontOf(records, ownerOf(item)),
  'line-row': async ({ records }) => (await readyHeads(records))[0],
  'cluster-claim': ({ records }) => auditCluster(records),
  sweep: ({ records }, item) => findSweep(records, ownerOf(item), item.sk),
  'sweep-run': async ({ records }, item) => (await findRuns(records, sweepOf(item), [0]))[0],
  'sweep-config': ({ records }, item) => readSweepConfig(records, sweepOf(item)),
  'export-step': async ({ records }) => readable(await listExportSteps(records, undefined)),
  'sweep-turn': async ({ records }) => readable(await listTurns(records, undefined)),
  'sweep-rule': ({ records }, item) => findRule(records, sweepOf(item)),
  'sweep-report': ({ records }, item) => listReports(records, sweepOf(item)),
  schedule: ({ records }, item) => findSchedule(records, { project_id: ownerOf(item), schedule_id: item.sk }),
  'active-schedules': async ({ records }, item) => {
    // A schedule that is listed already takes no further place.
    const listed = { project_id: '01m7zd37c8fvxfhbyjhxbvgrzb', schedule_id: '01m7zd37c8sw33pd33t8h6rtmj' };
    return (await countActive(records, { user_id: ownerOf(item), ...listed })).if;
  },
  'schedule-time': async ({ records }) => readable(await listDueTimes(records, new Date(), undefined)),
  'schedule-config': ({ records }, item) =>
    readScheduleConfig(records, { project_id: ownerOf(item), schedule_id: item.sk }),
  link: async ({ records }, item) => {
    const page = { limit: 10, after: undefined };
    return wholePage(await listLinks(records, ownerOf(item), new Date('2026-06-01T00:00:00.000Z'), page))
      .items[0];
  },
  report: ({ records }, item) => requireReport(records, { project_id: ownerOf(item), report_id: item.sk }),
  'report-text': ({ records }, item) =>
    requireReport(records, { project_id: ownerOf(item), report_id: item.sk.split('#')[0] ?? '' }),
  'frozen-block': async ({ records }, item) => {
    const [report_id = '', digest = ''] = item.sk.split('#');
    return JSON.parse((await findFrozen(records, { project_id: ownerOf(item), report_id }, digest)) ?? '');
  },
  hooks: ({ records }, item) => readHooks(records, ownerOf(item)),
  'hook-events': async ({ records }, item) => ({
    asked: await isAskedFor(records, ownerOf(item), 'experiment.failed'),
  }),
  notice: async ({ records }) => readable(await listNotices(records, undefined)),
  delivery: ({ records }, item) => {
    const [hook_id = '', delivery_id = ''] = item.sk.split('#');
    return findDelivery(records, { project_id: ownerOf(item), hook_id, delivery_id });
  },
  'pending-delivery': async ({ records }, item) =>
    wholePage(await listPending(records, ownerOf(item), undefined)),
  'delivery-lane': ({ records }, { sk }) => findLane(records, sk),
  'pass-lease': ({ records }, { sk }) => findPass(records, sk),
  'list-position': ({ records }) => readPosition(records, unfinishedJobs),
};
