import { consoleFiles } from '../../../functions/console/console-files.ts';
import { endpoint as requestArtifactUpload } from '../../../functions/experiments/artifacts/request-artifact-upload.endpoint.ts';
import { endpoint as createExperiment } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { endpoint as createLink } from '../../../functions/links/create-link.endpoint.ts';
import { endpoint as putServing } from '../../../functions/optimization/serving/put-serving.endpoint.ts';
import { endpoint as putServingVersion } from '../../../functions/optimization/serving/put-serving-version.endpoint.ts';
import { endpoint as exportProject } from '../../../functions/projects/archive/export-project.endpoint.ts';
import { endpoint as requestImport } from '../../../functions/projects/archive/request-import.endpoint.ts';
import { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as putHook } from '../../../functions/projects/hooks/put-hook.endpoint.ts';
import { endpoint as testHook } from '../../../functions/projects/hooks/test-hook.endpoint.ts';
import { endpoint as createReport } from '../../../functions/projects/reports/create-report.endpoint.ts';
import { endpoint as createSchedule } from '../../../functions/projects/schedules/create-schedule.endpoint.ts';
import { endpoint as createSweep } from '../../../functions/projects/sweeps/create-sweep.endpoint.ts';
import { endpoint as putVariable } from '../../../functions/projects/variables/put-variable.endpoint.ts';
import { newId } from '../../../shared/core/new-id.ts';
import { putTrust } from '../../../shared/data/accounts/ci-trust.ts';
import { beginSession } from '../../../shared/data/accounts/session.ts';
import { issueToken } from '../../../shared/data/accounts/token.ts';
import { findUser } from '../../../shared/data/accounts/user.ts';
import type { OptimizationKind } from '../../../shared/data/jobs/job.ts';
import { recordedCompression } from '../../support/compression.ts';
import { recordedModel } from '../../support/model.ts';
import type { Call } from '../../support/service.ts';
import { exchange, trustOf } from '../auth/ci-issuer.ts';
import { plain, red } from '../pictures/picture-service.ts';
import { send, sha256 } from '../projects/upload-file.ts';
import { json } from '../users/body.ts';
import { command, dataset, nobody, type PeopledService, type Person, password, source } from './people.ts';

/** One request of the table. */
export interface Cell {
  service: PeopledService;
  caller: Person;
  /** Whose it is that the request is about; undefined for what does not exist. */
  target: Person | undefined;
}

export interface Operation {
  /** A good request, besides what its path says of the target. */
  call?: (cell: Cell) => Call | Promise<Call>;
  /** Takes part of what exists to something that does not, in a project that does. */
  absent?: Readonly<Record<string, string>>;
  /** Costs caller or target their account or token, so both are new each time. */
  newcomers?: true;
}

/** An address for each sign-in, so that none is held back by those before it that were to fail. */
let addresses = 0;
const elsewhere = (call: Call): Call => {
  addresses += 1;
  return { ...call, sourceIp: `10.0.0.${addresses}` };
};
const given = (call: Call) => ({ call: () => call });

const project = {
  'project-name': 'digits',
  'project-description': 'Reads digits',
  'project-type': 'vision',
  'project-task': 'classification',
};
const size = (bytes: Uint8Array) => ({ sha256: sha256(bytes), size: String(bytes.length) });
const picture = await plain(red).png().toBuffer();
const newUser = (account_type: string) => json({ username: `u${newId()}`, password, account_type });
const experiment = { absent: { experiment_id: nobody } };
const config = { absent: { config_id: 'absent.yaml' } };

/** A change by MLflow's API. */
const mlflowChange = (path: string, body: object): Call => ({
  ...json(body),
  method: 'POST',
  path: { mlflow_path: `api/2.0/mlflow/${path}` },
});

/** By the id of their owner, because reading an export leaves it as it is. */
const exportedProjects = new Map<string, Promise<string>>();

async function exportAnew(service: PeopledService, { user }: Person): Promise<string> {
  const project_id = await service.projectOf(user);
  await service.must(exportProject, { path: { project_id } });
  return project_id;
}

/** On a further project of the target that has been exported. */
const ofExported: Operation = {
  call: async ({ service, target }) => {
    if (target === undefined) return {};
    const { user_id } = target.user;
    const made = exportedProjects.get(user_id) ?? exportAnew(service, target);
    exportedProjects.set(user_id, made);
    return { path: { project_id: await made } };
  },
};

/** On an archive that the caller has uploaded. */
const ofImported: Operation = {
  call: async ({ service, caller }) => {
    const bytes = Buffer.from(`no archive of ${caller.user.username}`);
    const asked = await service.call(requestImport, { as: caller, query: size(bytes) });
    if (asked.status === 200) await send(asked.json.upload, bytes);
    return { query: { sha256: sha256(bytes) } };
  },
};

const variable = { absent: { name: 'ABSENT' } };
/** On the variables of another project of the target, which keeps those of its own. */
const onVariables = (call: Call): Operation => ({
  call: async ({ service, target }) =>
    target === undefined ? call : { ...call, path: { project_id: await service.projectOf(target.user) } },
});

/** A hook whose receiver does not exist: a reserved name never resolves. */
const hook = json({ url: 'https://hooks.invalid/x', format: 'slack', events: ['experiment.failed'] });

/** On a hook of the target, or on a delivery of it. */
const onHook = (call: Call = {}): Operation => ({
  absent: { name: 'absent', delivery_id: nobody },
  call: async ({ service, target }) => {
    if (target === undefined) return { path: { name: 'team', delivery_id: nobody }, ...call };
    const path = { project_id: target.project_id, name: 'team' };
    await service.must(putHook, { path, ...hook });
    return { path: { name: 'team' }, ...call };
  },
});

/** On a delivery of the hook of the target. */
const onDelivery: Operation = {
  absent: { delivery_id: nobody },
  call: async ({ service, target }) => {
    if (target === undefined) return { path: { name: 'team', delivery_id: nobody } };
    const path = { project_id: target.project_id, name: 'team' };
    await service.must(putHook, { path, ...hook });
    const { delivery_id } = await service.must(testHook, { path });
    return { path: { name: 'team', delivery_id } };
  },
};

const registering = (account_type: string): Operation => ({
  call: ({ service }) => ({
    ...newUser(account_type),
    environment: { ...service.environment, REGISTRATION: 'open' },
  }),
});

const onExperiment = (hasEnded: boolean, query: Readonly<Record<string, string>> = {}): Operation => ({
  ...experiment,
  call: async ({ service, target }) => {
    if (target === undefined) return { query };
    const { experiment_id } = await service.experimentIn(target.project_id, hasEnded);
    return { path: { experiment_id }, query };
  },
});

const withBody = ({ call, ...rest }: Operation, body: Call): Operation => ({
  ...rest,
  call: async (given) => ({ ...(await call?.(given)), ...body }),
});

/** On a file of a new logged experiment of the target. */
const onLogged = (
  absent: Readonly<Record<string, string>>,
  request: (service: PeopledService, path: Record<string, string>) => Promise<Call>,
): Operation => ({
  call: async ({ service, target }) => {
    const named = { path: 'model.bin' };
    if (target === undefined) return { path: { ...named, experiment_id: nobody }, query: absent };
    const { project_id } = target;
    const { experiment_id } = await service.must(createExperiment, { path: { project_id }, ...json({}) });
    const path = { project_id, experiment_id, ...named };
    return { path, ...(await request(service, path)) };
  },
});

const onCompression = (kind: OptimizationKind, hasEnded: boolean): Operation => ({
  call: async ({ service, target }) =>
    target === undefined
      ? {}
      : { path: { strategy_id: (await recordedCompression(service, target, kind, hasEnded)).strategy_id } },
});

const optimizing = (query: Readonly<Record<string, string>>): Operation => ({
  call: ({ target }) => ({ query: { model_name: target?.model_name ?? 'absent', ...query } }),
});

/** A new model of the target, in service with a spare alias. */
async function servedModel(service: PeopledService, target: Person, isServed = true): Promise<string> {
  const { model_name } = await recordedModel(service, target);
  if (!isServed) return model_name;
  await service.must(putServing, { path: { model_name } });
  const query = { target: 'original' };
  await service.must(putServingVersion, { path: { model_name, version: 'spare' }, query });
  return model_name;
}

/** On a new served model of the target. */
const onServed = (version: string, call: Call = {}, isServed = true): Operation => ({
  call: async ({ service, target }) => {
    const model_name = target === undefined ? 'absent' : await servedModel(service, target, isServed);
    return { ...call, path: { model_name, version } };
  },
});

/** A sweep that begins nothing by itself. */
const externalSweep = { config: 'train.yaml', method: 'external', trials: 2 };

/** On a new sweep of the target. */
const onSweep = (call: Call = {}): Operation => ({
  absent: { sweep_id: nobody },
  call: async ({ service, target }) => {
    if (target === undefined) return { path: { sweep_id: nobody }, ...call };
    const { project_id } = target;
    const { sweep_id } = await service.must(createSweep, { path: { project_id }, ...json(externalSweep) });
    return { path: { sweep_id }, ...call };
  },
});

const written = json({
  title: 'Findings',
  text: '```mps receipt\nmethod: prune\ncompression: 01m7zd37c8sw33pd33t8h6rtmj\n```',
});

/** On a report of the target: a project has at most a hundred. */
const reports = new Map<string, Promise<string>>();
const onReport = (isNew: boolean, more: Call = {}): Operation => ({
  absent: { report_id: nobody, ...more.path },
  call: async ({ service, target }) => {
    if (target === undefined) return { ...more, path: { report_id: nobody, ...more.path } };
    const { project_id, user } = target;
    const make = async (): Promise<string> =>
      (await service.must(createReport, { path: { project_id }, ...written })).report_id;
    const made = (isNew ? undefined : reports.get(user.user_id)) ?? make();
    if (!isNew) reports.set(user.user_id, made);
    return { ...more, path: { report_id: await made, ...more.path } };
  },
});

const nightly = json({ cron: '0 3 * * *', config: 'train.yaml' });

/** By the id of their owner: a project has at most a hundred. */
const schedules = new Map<string, Promise<string>>();

/** On a schedule of the target. */
const onSchedule = (isNew: boolean, more: Call = {}): Operation => ({
  absent: { schedule_id: nobody },
  call: async ({ service, target }) => {
    if (target === undefined) return { ...more, path: { schedule_id: nobody } };
    const { project_id, user } = target;
    const make = async (): Promise<string> =>
      (await service.must(createSchedule, { path: { project_id }, ...nightly })).schedule_id;
    const made = (isNew ? undefined : schedules.get(user.user_id)) ?? make();
    if (!isNew) schedules.set(user.user_id, made);
    return { ...more, path: { schedule_id: await made } };
  },
});

/** How to ask for each operation; those that need nothing but their path are not named. */
export const operations: Readonly<Record<string, Operation>> = {
  readCommand: given({ path: { file: 'mps.tgz' } }),
  readConsoleFile: { call: async () => ({ path: { file: (await consoleFiles()).script } }) },

  createToken: {
    call: ({ target }) =>
      elsewhere(json({ grant_type: 'password', username: target?.user.username ?? `u${newId()}`, password })),
  },
  deleteToken: { newcomers: true },
  createSession: {
    call: ({ target }) => elsewhere(json({ username: target?.user.username ?? `u${newId()}`, password })),
  },
  deleteSession: { newcomers: true },
  deleteSessions: { newcomers: true },
  revokeSession: {
    call: async ({ service, target }) => {
      const session_id = newId();
      const use = { user_agent: 'a browser', address: '198.51.100.2' };
      const exists = target && (await findUser(service.accounts, target.user.user_id)) !== undefined;
      if (exists) await beginSession(service.accounts, target.user, { session_id, now: new Date(), use });
      return { path: { session_id } };
    },
  },
  createNamedToken: given(json({ name: 'script' })),
  redeemSignIn: given(json({ grant_type: 'authorization_code', code: 'none', code_verifier: 'none' })),
  exchangeToken: given(json({ ...exchange, subject_token: 'none' })),
  createTrust: {
    call: ({ caller }) =>
      json({
        provider: 'github',
        name: 'o/r',
        claims: { repository_id: '1', repository_owner_id: '2', ref: 'refs/heads/main' },
        scope: { rights: 'run', projects: [caller.project_id] },
      }),
  },
  deleteTrust: {
    call: async ({ service, target }) => {
      const trust_id = newId();
      const exists = target && (await findUser(service.accounts, target.user.user_id)) !== undefined;
      if (exists) await putTrust(service.accounts, trustOf(target.user, { trust_id }));
      return { path: { trust_id } };
    },
  },
  revokeToken: {
    call: async ({ service, target }) => {
      const token_id = newId();
      const options = { token_id, now: new Date(), seconds: 60, name: null };
      const exists = target && (await findUser(service.accounts, target.user.user_id)) !== undefined;
      if (exists) await issueToken(service.accounts, target.user, options);
      return { path: { token_id } };
    },
  },

  createUser: { call: () => newUser('developer') },
  'checkUsername, where registration is open': {
    call: ({ service }) => ({ environment: { ...service.environment, REGISTRATION: 'open' } }),
  },
  'createUser, a guest where registration is open': registering('guest'),
  'createUser, a viewer where registration is open': registering('viewer'),
  deleteUser: {
    newcomers: true,
    call: ({ target }) => ({ query: { username: target?.user.username ?? 'nobody' } }),
  },
  changeUserType: { newcomers: true, ...given({ query: { account_type: 'viewer' } }) },
  changePassword: {
    newcomers: true,
    call: () => elsewhere(json({ password: 'another long sentence', current_password: password })),
  },
  putProfilePicture: given({ body: picture, headers: { 'Content-Type': 'image/png' } }),

  createProject: given({ query: project }),
  updateProject: given(json({ project_name: 'digits' })),
  deleteProject: {
    call: async ({ service, target }) =>
      target === undefined ? {} : { path: { project_id: await service.projectOf(target.user) } },
  },
  markProjectDeleted: {
    call: async ({ service, target }) =>
      target === undefined ? {} : { path: { project_id: await service.projectOf(target.user) } },
  },
  deleteExperiments: given(json({ experiment_ids: [nobody] })),
  restoreExperiments: given(json({ experiment_ids: [nobody] })),
  exportProject: {
    call: async ({ service, target }) =>
      target === undefined ? {} : { path: { project_id: await service.projectOf(target.user) } },
  },
  readExport: ofExported,
  downloadExport: ofExported,
  requestImport: given({ query: size(Buffer.from('no archive')) }),
  readImport: ofImported,
  putImport: ofImported,
  transferProject: {
    call: async ({ service, target }) => ({
      query: { username: service.people['other developer'].user.username },
      ...(target && { path: { project_id: await service.projectOf(target.user) } }),
    }),
  },
  putMember: {
    absent: { username: 'nobody' },
    call: async ({ service, target }) => {
      const { username } = service.people.guest.user;
      const project_id = target && (await service.projectOf(target.user));
      // Nobody is a member of a project of their own.
      const name = target?.user === service.people.guest.user ? service.people.admin.user.username : username;
      return { query: { role: 'viewer' }, ...(project_id && { path: { project_id, username: name } }) };
    },
  },
  deleteMember: {
    absent: { username: 'nobody' },
    call: async ({ service, target }) => {
      if (target === undefined) return {};
      const { people } = service;
      const member = target.user === people.guest.user ? people.admin : people.guest;
      const project_id = await service.projectOf(target.user);
      await service.share(project_id, member, 'viewer');
      return { path: { project_id, username: member.user.username } };
    },
  },
  readConfig: config,
  readConfigGraph: config,
  putConfig: given({ body: 'a: 1\n' }),
  deleteConfig: {
    ...config,
    call: async ({ service, target }) => {
      if (target === undefined) return {};
      const path = { project_id: target.project_id, config_id: 'spare.yaml' };
      await service.must(putConfig, { path, body: 'a: 1\n' });
      return { path };
    },
  },
  putProjectBudget: given(json({ amount: 5 })),
  putUserBudget: given(json({ amount: 5 })),
  putEnvironment: given({ query: command }),
  readVariable: variable,
  putVariables: onVariables(json({ variables: [{ name: 'MODE', value: 'fast', secret: false }] })),
  putVariable: given(json({ value: 'a secret of the project' })),
  deleteVariables: onVariables({}),
  deleteVariable: {
    ...variable,
    call: async ({ service, target }) => {
      if (target === undefined) return {};
      const path = { project_id: target.project_id, name: 'SPARE_TOKEN' };
      await service.must(putVariable, { path, ...json({ value: 'a spare secret' }) });
      return { path };
    },
  },
  readHook: onHook(),
  putHook: { call: () => ({ path: { name: 'team' }, ...hook }) },
  deleteHook: onHook(),
  testHook: onHook(),
  listDeliveries: onHook(),
  redeliverMessage: onDelivery,
  requestSourceUpload: given({ query: size(source) }),
  putSource: given({ query: { sha256: sha256(source) } }),
  requestDatasetUpload: given({ query: size(dataset) }),
  putDataset: given({ query: { sha256: sha256(dataset) } }),
  trainProject: given({ query: { config: 'train.yaml' } }),
  trainProjectRemote: given({ query: { config: 'train.yaml' } }),
  createSweep: given(json(externalSweep)),
  estimateSweep: given(json(externalSweep)),
  readSweep: onSweep(),
  updateSweep: onSweep(json({ name: 'another' })),
  deleteSweep: onSweep(),
  pauseSweep: onSweep(),
  resumeSweep: onSweep(),
  cancelSweep: onSweep(),
  retrySweep: onSweep(),
  listTrials: onSweep(),
  createTrial: onSweep(json({ params: {} })),
  createReport: given(written),
  readReport: onReport(false),
  readReportBlock: onReport(false, { path: { block: '1' } }),
  updateReport: onReport(false, written),
  deleteReport: onReport(true),
  createSchedule: given(nightly),
  readSchedule: onSchedule(false),
  pauseSchedule: onSchedule(false),
  resumeSchedule: onSchedule(false),
  runSchedule: onSchedule(true),
  updateSchedule: onSchedule(false, json({ name: 'weekly' })),
  deleteSchedule: onSchedule(true),

  downloadDataset: { absent: { dataset: 'absent' } },
  searchExperiments: {
    call: ({ target }) => ({
      query: { project_id: target?.project_id ?? nobody, filter: "status = 'FAILED'" },
    }),
  },
  compareExperiments: {
    call: async ({ service, target }) => {
      if (target === undefined) return { query: { experiments: `${nobody},01h00000000000000000000001` } };
      const ids = await Promise.all([1, 2].map(() => service.experimentIn(target.project_id, true)));
      return { query: { experiments: ids.map(({ experiment_id }) => experiment_id).join(',') } };
    },
  },
  listMedia: {
    call: async ({ service, target }) => {
      if (target === undefined) return { query: { experiments: nobody } };
      const { experiment_id } = await service.experimentIn(target.project_id, true);
      return { query: { experiments: experiment_id } };
    },
  },
  readArtifacts: {
    call: async ({ service, target }) => {
      const experiment_id =
        target === undefined ? nobody : (await service.experimentIn(target.project_id, true)).experiment_id;
      return json({ artifacts: [{ experiment_id, path: 'absent.png' }] });
    },
  },
  readExperiment: experiment,
  createExperiment: given(json({ name: 'baseline' })),
  logExperimentMetrics: {
    ...experiment,
    call: async ({ service, target }) => {
      const sent = json({ metrics: [{ name: 'loss', value: 1 }] });
      if (target === undefined) return sent;
      const path = { project_id: target.project_id };
      const made = await service.must(createExperiment, { path, ...json({}) });
      return { path: { experiment_id: made.experiment_id }, ...sent };
    },
  },
  logExperimentParams: { ...experiment, ...given(json({ params: { lr: '0.1' } })) },
  updateExperiment: { ...experiment, ...given(json({ name: 'baseline' })) },
  readExperimentConfig: experiment,
  readExperimentConfigGraph: experiment,
  deleteExperiment: onExperiment(true),
  readExperimentBudget: onExperiment(true),
  putExperimentBudget: withBody(onExperiment(true), json({ amount: 5 })),
  cancelExperiment: onExperiment(false),
  rerunExperiment: onExperiment(true, { config: 'train.yaml' }),
  readExperimentLogs: experiment,
  readExperimentMetrics: experiment,
  listArtifacts: experiment,
  downloadArtifact: { absent: { path: 'absent.bin' } },
  requestArtifactUpload: onLogged(size(source), async () => ({ query: size(source) })),
  putArtifact: onLogged({ upload_id: nobody }, async (service, path) => {
    const asked = await service.must(requestArtifactUpload, { path, query: size(source) });
    await send(asked.upload, source);
    return { query: { upload_id: asked.upload_id } };
  }),

  createLink: {
    call: ({ target }) =>
      json({ subject: { kind: 'experiment', experiment_id: target?.experiment_id ?? nobody } }),
  },
  deleteLink: {
    absent: { link_id: nobody },
    call: async ({ service, target }) => {
      if (target === undefined) return { path: { link_id: nobody } };
      const { project_id, experiment_id } = target;
      const body = json({ subject: { kind: 'experiment', experiment_id } });
      const made = await service.call(createLink, {
        as: service.people.admin,
        path: { project_id },
        ...body,
      });
      return { path: { link_id: made.json.link_id } };
    },
  },
  openLink: given(json({ secret: 'of no link' })),
  readSharedBlock: { call: () => ({ path: { block: '1' } }) },
  readSharedChart: given({ query: { experiment: nobody } }),
  listSharedFiles: given({ query: { experiment: nobody } }),
  downloadSharedFile: given({ query: { experiment: nobody } }),

  createModel: {
    call: async ({ service, target }) => {
      const model_name =
        target === undefined ? `m${newId()}` : (await recordedModel(service, target)).model_name;
      return { path: { model_name }, query: { ...size(source), file: 'calibration' } };
    },
  },
  deleteModel: {
    call: async ({ service, target }) =>
      target === undefined ? {} : { path: { model_name: (await recordedModel(service, target)).model_name } },
  },

  'serveMlflow, reading an experiment': {
    call: ({ target }) => ({
      method: 'GET',
      path: { mlflow_path: 'api/2.0/mlflow/experiments/get' },
      query: { experiment_id: target?.project_id ?? nobody },
    }),
  },
  'serveMlflow, creating an experiment': {
    call: () => mlflowChange('experiments/create', { name: newId() }),
  },
  'serveMlflow, creating a run': {
    call: ({ target }) => mlflowChange('runs/create', { experiment_id: target?.project_id ?? nobody }),
  },
  'serveMlflow, marking an experiment as deleted': {
    call: async ({ service, target }) => {
      const experiment_id = target === undefined ? nobody : await service.projectOf(target.user);
      return mlflowChange('experiments/delete', { experiment_id });
    },
  },

  putServing: onServed('original', {}, false),
  readServing: onServed('original'),
  deleteServing: onServed('original'),
  putServingVersion: onServed('champion', { query: { target: 'original' } }),
  deleteServingVersion: onServed('spare'),
  'serveModels, whether it lives': given({ method: 'GET', path: { v2_path: 'health/live' } }),
  'serveModels, reading a served model': {
    call: async ({ service, target }) => ({
      method: 'GET',
      path: { v2_path: `models/${target === undefined ? 'absent' : await servedModel(service, target)}` },
    }),
  },
  'serveModels, listing the served models': given({ method: 'GET', path: { v2_path: 'repository/index' } }),

  checkTraining: { call: ({ target }) => ({ query: { project_id: target?.project_id ?? nobody } }) },
  checkExport: {
    call: ({ target }) => json({ project_id: target?.project_id ?? nobody, name: `m${newId()}` }),
  },
  createExport: {
    call: ({ target }) =>
      json({
        project_id: target?.project_id ?? nobody,
        source: { hf: 'an-owner/a-model' },
        name: `m${newId()}`,
      }),
  },
  createPruneStrategy: optimizing({ strategy: 'random', inputs: '1x1x8x8', outputs: '1x10' }),
  createQuantizeStrategy: optimizing({ strategy: 'dynamic', precision: '8' }),
  cancelPruneStrategy: onCompression('prune', false),
  cancelQuantizeStrategy: onCompression('quantize', false),
  deletePruneStrategy: onCompression('prune', true),
  deleteQuantizeStrategy: onCompression('quantize', true),
};
