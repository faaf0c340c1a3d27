import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { endpoint as readExperiment } from '../../../functions/experiments/records/read-experiment.endpoint.ts';
import type { endpoint as checkExport } from '../../../functions/optimization/exports/check-export.endpoint.ts';
import type { endpoint as createExport } from '../../../functions/optimization/exports/create-export.endpoint.ts';
import { wait } from '../../../shared/client/retry.ts';
import type { AnswerOf, RequestOf } from '../../../shared/client/route.ts';
import { hubAddress } from '../../../shared/exports/hub-address.ts';
import { exportTasks } from '../../../shared/exports/program/export-settings.ts';
import { targetNames } from '../../../shared/onnx/strategies/target.ts';
import { CliError, exitCodes, usageFaults } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { detachable } from '../../experiments/detachable.ts';
import { findExperiment } from '../../experiments/find-experiment.ts';
import { followExperiment, programExitCode } from '../../experiments/follow-experiment.ts';
import { connect, type Session } from '../../login/connect.ts';
import { LiveLine } from '../../output/live-line.ts';
import { projectSoFar, projectToFill } from '../../projects/project-session.ts';
import { filesOfModel, uploadModelFolder } from '../../upload/artifact-folder.ts';
import { datasetUpload, withDataFile } from '../../upload/dataset-upload.ts';
import { sendUnlessKnown } from '../../upload/send-unless-known.ts';
import { untilInterrupted } from '../../upload/until-interrupted.ts';
import { command } from '../command.ts';
import { choice, detach, gate, json, parsed, project, runBudget, text } from '../flags.ts';
import { followCompression } from './follow-compression.ts';
import { showCompression } from './show-compression.ts';

interface Flags {
  for?: string;
  maxLoss?: number;
  data?: string;
  task?: string;
  name?: string;
  trustRemoteCode?: boolean;
  budget?: number;
  project?: string;
  gate?: boolean;
  detach?: boolean;
  json?: boolean;
}

type Body = RequestOf<typeof createExport>['body'];
type CheckedBody = NonNullable<RequestOf<typeof checkExport>['body']>;
type Source = Body['source'];

/** What a command exports. */
interface Place {
  /** Project of the run that it names; undefined for the folder's own. */
  project_id?: string;
  /** Undefined for a folder, which is still to be uploaded. */
  source?: Source;
  folder?: string;
  name?: string;
}

/** Find what to export: a model of the Hub, the artifacts of a run, or a folder. Nothing is sent. */
async function placeOf(context: CliContext, session: Session, flags: Flags, place: string): Promise<Place> {
  if (/^(?:hf|https?):\/\//.test(place)) {
    const model = hubAddress(place);
    if (model === undefined)
      throw new CliError(
        `${place} is no model of the Hub. Give hf://OWNER/NAME or hf://OWNER/NAME@REVISION.`,
        exitCodes.usage,
      );
    const { hf, revision } = model;
    return { source: { hf, ...(revision !== undefined && { revision }) } };
  }
  const ofRun = /^run:\/\/([^/]+)(?:\/(.*))?$/.exec(place);
  if (ofRun !== null) {
    const [, id = '', path = ''] = ofRun;
    const { project_id, experiment_id } = await findExperiment(session, context.folder, {
      project: flags.project,
      id,
    });
    return { project_id, source: { experiment_id, path: path.replace(/\/+$/, '') } };
  }
  const folder = resolve(context.folder, place);
  if (!(await stat(folder).catch(() => undefined))?.isDirectory())
    throw new CliError(
      `${place} is no folder. Give hf://OWNER/NAME, run://ID/FOLDER or a folder; "mps quantize NAME --strategy auto" compresses a registered model.`,
      exitCodes.usage,
    );
  await filesOfModel(folder);
  return { folder, name: modelNameOf(folder) };
}

/** Upload the files of a folder as the artifacts of an experiment. */
async function uploadFolder(
  { printer }: CliContext,
  { client }: Session,
  model: { project_id: string; folder: string; name: string },
): Promise<Source> {
  const line = new LiveLine(printer);
  try {
    const upload = (signal: AbortSignal) =>
      uploadModelFolder(client, model, { signal, onProgress: (told) => line.set(told) });
    const experiment_id = await untilInterrupted(upload, 'Interrupted; nothing was started.');
    return { experiment_id, path: '' };
  } finally {
    line.end();
  }
}

const modelNameOf = (folder: string): string =>
  basename(folder)
    .replaceAll(/[^A-Za-z0-9._-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '') || 'model';

/** Return the path of the file with the texts; undefined if the name is that of a data set. */
async function fileOfTexts({ folder }: CliContext, name: string): Promise<string | undefined> {
  const path = resolve(folder, name);
  return (await stat(path).catch(() => undefined))?.isFile() ? path : undefined;
}

/** Upload a file with texts as a data set, and return its name. */
async function uploadTexts({ client }: Session, project_id: string, path: string): Promise<string> {
  const dataset = modelNameOf(path);
  const work = (signal: AbortSignal) =>
    withDataFile(path, { isFolder: false, signal, onStep: () => {} }, async (file) => {
      const upload = datasetUpload(client, { project_id, dataset }, file, { asFile: true, signal });
      await sendUnlessKnown(upload, file, { signal, onProgress: () => {} });
    });
  await untilInterrupted(work, 'Interrupted; nothing was started.');
  return dataset;
}

const pollMilliseconds = 500;

/** The event at the end of a job begins the compression, or a pass some minutes later if that was lost. */
const longestWait = 15 * 60_000;

/** Wait until the service has begun the compression that follows an export. @throws CliError that says why there is none */
function compressionOf(
  { printer }: CliContext,
  { client }: Session,
  path: { project_id: string; experiment_id: string },
): Promise<string> {
  const route = 'GET /projects/{project_id}/experiments/{experiment_id}';
  const show = `mps show ${path.experiment_id}`;
  const follow = async (signal: AbortSignal): Promise<string> => {
    const latest = performance.now() + longestWait;
    while (performance.now() < latest) {
      const { model_export }: AnswerOf<typeof readExperiment> = await client.call<typeof readExperiment>(
        route,
        { path, signal },
      );
      const { strategy_id = null, reason = null } = model_export ?? {};
      if (strategy_id !== null) return strategy_id;
      if (reason !== null) throw new CliError(`The model was exported but not compressed: ${reason}`);
      await wait(pollMilliseconds, signal);
    }
    throw new CliError(
      `The model was exported, but the service has begun no compression for ${longestWait / 60_000} minutes. See ${show}.`,
    );
  };
  const cancel = async () => `The export has ended, and its compression has not begun. See ${show}.`;
  return detachable(follow, { printer, what: 'compression', again: show, cancel });
}

/** Parse a share: `1%` or `0.01`. @throws Error that Stricli reports */
function share(written: string): number {
  const isPercent = written.endsWith('%');
  const value = Number(isPercent ? written.slice(0, -1) : written) / (isPercent ? 100 : 1);
  if (written.trim() !== '' && value > 0 && value <= 1) return value;
  throw new Error('must be a share such as 1% or 0.01');
}

/** A flag with one of some values: another one is refused before a folder is uploaded. */
const oneOf = (values: readonly string[], brief: string) => {
  const parse = (written: string): string => {
    if (values.includes(written)) return written;
    throw new Error(`must be one of ${values.join(', ')}`);
  };
  return { ...parsed(parse, 'NAME', brief), proposeCompletions: () => values } as const;
};

export const compressCommand = command({
  brief: 'Export a model of Hugging Face, and make it small',
  help: `Exports a model to ONNX, checks that it equals PyTorch, quantizes it, and prints the receipt. Both jobs go on if this command ends. A token of the Hub is the variable HF_TOKEN of the project.

Examples:
  mps compress hf://sentence-transformers/all-MiniLM-L6-v2 --for lambda --max-loss 1%
  mps compress ./my-finetuned --task text-classification --data reviews.txt
  mps compress run://4k8f/best`,
  args: [
    {
      brief: 'hf://OWNER/NAME[@REVISION], run://ID[/FOLDER] or a folder',
      placeholder: 'SOURCE',
      parse: String,
    },
  ],
  flags: {
    for: oneOf(targetNames, 'Machine or processor that it is made for, such as lambda, c7g or avx2'),
    maxLoss: parsed(share, 'SHARE', 'Quality that it may lose, such as 1%'),
    data: text(
      'FILE',
      'Texts by which quality is measured, one a line: a file, or a data set of the project',
    ),
    task: oneOf(exportTasks, `One of ${exportTasks.join(', ')} (default: as its files say)`),
    name: text('NAME', 'Name of the model (default: that of the source); the small one gets -small'),
    trustRemoteCode: choice('Run the code of the repository; it is refused otherwise'),
    budget: { ...runBudget, brief: 'US$ that each of the two jobs may cost' },
    project,
    gate,
    detach,
    json,
  },
  aliases: { d: 'detach', p: 'project' },
  /** Export a model, and compress it. Both jobs go on without this command: the service begins the second one. */
  async run(flags, place) {
    const { printer } = this;
    const { for: target, maxLoss, task, trustRemoteCode, budget } = flags;
    const session = await connect(this.env);
    const { client } = session;
    const { folder, name: ownName, ...origin } = await placeOf(this, session, flags, place);
    const texts = flags.data === undefined ? undefined : await fileOfTexts(this, flags.data);
    const name = flags.name ?? ownName;
    const known = origin.project_id ?? (await projectSoFar(this, session, flags.project))?.project_id;
    // The service checks the values, and names what is allowed.
    const request = {
      ...(name !== undefined && { name }),
      ...(target !== undefined && { for: target }),
      ...(maxLoss !== undefined && { max_loss: maxLoss }),
      ...(task !== undefined && { task }),
      ...(flags.data !== undefined && texts === undefined && { data: flags.data }),
      ...(trustRemoteCode && { trust_remote_code: true }),
      ...(budget !== undefined && { budget }),
    };
    const isHub = origin.source !== undefined && 'hf' in origin.source;
    const checked = {
      ...request,
      ...(known !== undefined && { project_id: known }),
      ...(isHub && { source: origin.source }),
    } as CheckedBody;
    await usageFaults(client.call<typeof checkExport>('POST /optimization/exports/check', { body: checked }));
    const project_id = origin.project_id ?? (await projectToFill(this, session, flags.project)).project_id;
    const data = texts === undefined ? {} : { data: await uploadTexts(session, project_id, texts) };
    const source =
      origin.source ??
      (await uploadFolder(this, session, { project_id, folder: folder ?? '', name: name ?? '' }));
    const body = { ...request, ...data, project_id, source } as Body;
    const begun = await client.call<typeof createExport>('POST /optimization/exports', { body });
    const { experiment_id } = begun;
    if (flags.detach) {
      if (flags.json) printer.json(begun);
      else printer.line(experiment_id);
      return;
    }
    printer.say(`submitted   ${experiment_id}`);
    const path = { project_id, experiment_id };
    const { experiment: ended, unsaid } = await followExperiment(session.client, path, printer, {
      what: 'export',
    });
    printer.say(`export ${ended.status}${unsaid === '' ? '' : `: ${unsaid}`}`);
    if (ended.status !== 'SUCCEEDED') {
      this.process.exitCode = programExitCode(ended);
      return;
    }
    const strategy_id = await compressionOf(this, session, path);
    const compression = await followCompression(session.client, 'quantize', strategy_id, printer);
    showCompression(this, compression, { json: flags.json ?? false, gate: flags.gate ?? false });
  },
});
