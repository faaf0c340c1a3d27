import type * as z from 'zod';
import { controlBatch } from '../../../shared/aws/needs.ts';
import { badRequest, ServiceError } from '../../../shared/core/service-error.ts';
import type { Settings } from '../../../shared/core/settings.ts';
import { readUsers } from '../../../shared/data/accounts/needs.ts';
import type { Git } from '../../../shared/data/experiments/tracking.ts';
import { GitRule } from '../../../shared/data/experiments/tracking-rules.ts';
import type { TrainingKind } from '../../../shared/data/jobs/job.ts';
import type { Config } from '../../../shared/data/projects/config.ts';
import { findEnvironment } from '../../../shared/data/projects/environment.ts';
import { readVariablesKey } from '../../../shared/data/projects/variable.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { ExperimentAnswer } from '../../../shared/experiments/experiment-answer.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import type { Input } from '../../../shared/http/definition/endpoint-input.ts';
import { flag, projectPath } from '../../../shared/http/definition/parameters.ts';
import { answerAdmitted } from '../../../shared/jobs/admission.ts';
import { budgetParameter } from '../../../shared/jobs/budget-answer.ts';
import { allowedSize, type JobSize, sizeParameters } from '../../../shared/jobs/size.ts';
import {
  creatingExperiment,
  experimentAnswers,
  recordExperiment,
} from '../../../shared/training/record-experiment.ts';
import { currentInputs } from './current-inputs.ts';
import { expectedParameters } from './expected-inputs.ts';
import { rulesParameter } from './rules-parameter.ts';
import { auditedParameters, trackedParameters } from './tracked-parameters.ts';

/**
 * The endpoint that trains a project: it checks the size, reads the inputs, records the experiment and submits the
 * job.
 */
export const trainingEndpoint = <
  const Query extends z.ZodObject<typeof trainingParameters>,
  const P extends `/${string}`,
>({
  kind,
  name,
  path,
  summary,
  query,
  nodes: nodesOf,
  size: sizeOf,
  config: findConfig,
}: Training<Query, P>) =>
  defineEndpoint({
    name,
    method: 'POST',
    path,
    summary,
    allow: 'developer',
    project: 'developer',
    right: 'run',
    audit: { fields: auditedParameters },
    needs: { records: writeRecords, accounts: readUsers, batch: controlBatch, keys: readVariablesKey },
    input: { path: projectPath, query },
    output: { 200: ExperimentAnswer },
    problems: ['conflict'],
    etag: true,
    idempotent: creatingExperiment,

    async handle({ query }, context) {
      const { records, project, settings } = context;
      const { timeout, gpus, capacity, dataset, budget, rules, name, note, tags } = query;
      const git = gitState(query);
      const nodes = nodesOf(query);
      const demand = { kind, timeout, nodes, gpus, capacity };
      const size = allowedSize(() => sizeOf(query, settings), demand, settings);
      const [config, environment] = await Promise.all([
        findConfig(records, project.project_id, query),
        findEnvironment(records, project.project_id),
      ]);
      if (environment === undefined) throw noEnvironment();
      const inputs = await currentInputs(
        { kind, config, environment, size, nodes, timeout, dataset, git, expected: query },
        context,
      );
      return answerAdmitted(
        await recordExperiment({ ...inputs, budget, rules, tracked: { name, note, tags } }, context),
        experimentAnswers(context),
        context,
      );
    },
  });

/** Query parameters with the commit of the source. */
const gitParameters = {
  git_commit: GitRule.shape.commit
    .optional()
    .describe('Commit of the source, such as `3f2a9c1`; for information only.'),
  git_branch: GitRule.shape.branch.unwrap().optional().describe('Branch of the commit, such as `main`.'),
  git_dirty: flag.optional().describe('Whether the source has uncommitted changes: `true` or `false`.'),
};

/** Query parameters of both kinds of training. */
export const trainingParameters = {
  ...sizeParameters,
  ...budgetParameter,
  ...rulesParameter,
  ...trackedParameters,
  ...expectedParameters,
  ...gitParameters,
};

/** Differences between `POST …/train` and `POST …/train-remote`. */
interface Training<Query extends z.ZodObject<typeof trainingParameters>, P extends `/${string}`> {
  kind: TrainingKind;
  name: string;
  path: P;
  summary: string;
  query: Query;
  nodes(query: Given<Query>): number;
  /** @throws ServiceError 400 for a size that is not offered */
  size(query: Given<Query>, settings: Settings): JobSize;
  /** @throws ServiceError `not-found`, or `conflict` if the request does not choose one of several */
  config(records: TableReader<'records'>, project_id: string, query: Given<Query>): Promise<Config>;
}

/** The parsed query of a request. */
type Given<Query extends z.ZodObject> = Input<{ query: Query }>['query'];

/**
 * Return the repository state that a query reports.
 * @throws ServiceError 400 for a branch or changes without a commit
 */
function gitState({ git_commit: commit, git_branch, git_dirty }: GitQuery): Git | null {
  if (commit !== undefined) return { commit, branch: git_branch ?? null, dirty: git_dirty ?? null };
  const given = Object.entries({ git_branch, git_dirty }).filter(([, value]) => value !== undefined);
  if (given.length === 0) return null;
  throw badRequest(given.map(([name]) => ({ in: 'query', name, message: 'needs git_commit' })));
}

interface GitQuery {
  git_commit?: string | undefined;
  git_branch?: string | undefined;
  git_dirty?: boolean | undefined;
}

/** The 409 for a project without an environment. */
export const noEnvironment = (): ServiceError =>
  new ServiceError(
    'conflict',
    'The project has no environment yet: PUT /projects/{project_id}/environment sets the command and its dependencies.',
  );
