import { basename, dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { buildRouteMap } from '@stricli/core';
import type { endpoint as listArtifacts } from '../../../functions/experiments/artifacts/list-artifacts.endpoint.ts';
import type { endpoint as createModel } from '../../../functions/optimization/models/create-model.endpoint.ts';
import type { endpoint as deleteModel } from '../../../functions/optimization/models/delete-model.endpoint.ts';
import type { endpoint as listModels } from '../../../functions/optimization/models/list-models.endpoint.ts';
import type { endpoint as putModel } from '../../../functions/optimization/models/put-model.endpoint.ts';
import type { AnswerOf } from '../../../shared/client/route.ts';
import { bytesText } from '../../../shared/core/text/bytes-text.ts';
import { setsBeside } from '../../../shared/onnx-models/sets-beside.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { namedExperiment } from '../../experiments/find-experiment.ts';
import { agree } from '../../login/ask.ts';
import { connect, type Session } from '../../login/connect.ts';
import { LiveLine } from '../../output/live-line.ts';
import { digestFile } from '../../upload/digest-file.ts';
import { modelFolder } from '../../upload/model-folder.ts';
import { announceModelFile, type ModelFile, sendModelFile } from '../../upload/model-upload.ts';
import { untilInterrupted } from '../../upload/until-interrupted.ts';
import { modelArgument } from '../arguments.ts';
import { command } from '../command.ts';
import { json, project, text, yes } from '../flags.ts';
import { experimentIds } from '../live-names.ts';

interface ExperimentPath {
  project_id: string;
  experiment_id: string;
}

interface Flags {
  json?: boolean;
}

type Model = AnswerOf<typeof putModel>;

/** Return the names of a model's data sets. */
const setNames = ({ has_calibration, has_evaluation }: Pick<Model, 'has_calibration' | 'has_evaluation'>) => [
  ...(has_calibration ? ['calibration'] : []),
  ...(has_evaluation ? ['evaluation'] : []),
];

const createRoute = 'POST /optimization/models/{model_name}';
const artifactsRoute = 'GET /projects/{project_id}/experiments/{experiment_id}/artifacts';

const lsCommand = command({
  brief: 'List the models',
  help: 'Example:\n  mps models ls',
  flags: { json },
  async run({ json: isJson }) {
    const { client } = await connect(this.env);
    const models = client.rows<typeof listModels>('GET /optimization/models');
    await this.printer.list(models, isJson, ['MODEL', 'STATUS', 'SIZE', 'PARAMETERS', 'DATA'], (model) => [
      model.model_name,
      model.status,
      bytesText(model.bytes),
      String(model.parameters ?? ''),
      setNames(model).join(', '),
    ]);
  },
});

interface PushFlags extends Flags {
  data?: readonly string[];
  calibration?: string;
  evaluation?: string;
  inputs?: string;
  outputs?: string;
  from?: string;
  sets?: boolean;
  project?: string;
}

const shapesOf = ({ inputs, outputs }: PushFlags) => ({
  ...(inputs !== undefined && { inputs }),
  ...(outputs !== undefined && { outputs }),
});

type Sets = Pick<PushFlags, 'calibration' | 'evaluation'>;

const setsOf = ({ calibration, evaluation }: Sets) => ({
  ...(calibration !== undefined && { calibration }),
  ...(evaluation !== undefined && { evaluation }),
});

/**
 * Return the sets to register: the named ones. For the others, use the sets next to the model among the artifacts.
 */
export async function setsToRegister(
  { client }: Pick<Session, 'client'>,
  path: ExperimentPath,
  model: string,
  { sets = true, calibration, evaluation }: Pick<PushFlags, 'sets' | 'calibration' | 'evaluation'>,
): Promise<Sets> {
  const named = setsOf({ ...(calibration && { calibration }), ...(evaluation && { evaluation }) });
  if (!sets) return named;
  const paths: string[] = [];
  for await (const artifact of client.rows<typeof listArtifacts>(artifactsRoute, { path }))
    if (artifact.sha256 !== null) paths.push(artifact.path);
  return { ...setsBeside(model, paths), ...named };
}

/** Register an artifact of an experiment as a model. */
async function register(
  context: CliContext,
  flags: PushFlags,
  model_name: string,
  path: string,
): Promise<Model> {
  const { project: given, from } = flags;
  if (flags.data !== undefined)
    throw new CliError(
      '--data is for uploads. With --from, external data is taken automatically.',
      exitCodes.usage,
    );
  const { session, path: found } = await namedExperiment(context, given, from);
  const sets = await setsToRegister(session, found, path, flags);
  const { model } = await session.client.call<typeof createModel>(createRoute, {
    path: { model_name },
    query: { experiment_id: found.experiment_id, path, ...sets, ...shapesOf(flags) },
  });
  for (const [role, set] of Object.entries(sets)) context.printer.say(`${role}  ${set}`);
  return model;
}

async function filesOf(
  { folder }: CliContext,
  { data = [], calibration, evaluation }: PushFlags,
  path: string | undefined,
): Promise<ModelFile[]> {
  const wanted: [ModelFile['role'], string][] = [
    ...(path === undefined ? [] : [['model', path] as [ModelFile['role'], string]]),
    ...data.map((file): [ModelFile['role'], string] => ['data', file]),
    ...(calibration === undefined ? [] : [['calibration', calibration] as [ModelFile['role'], string]]),
    ...(evaluation === undefined ? [] : [['evaluation', evaluation] as [ModelFile['role'], string]]),
  ];
  const inFolder = path === undefined ? undefined : await modelFolder(resolve(folder, path), path);
  const files: ModelFile[] = [];
  for (const { path: file, role, name } of inFolder ?? [])
    files.push({ ...(await digestFile(file)), role, name });
  for (const [role, file] of wanted) {
    if (inFolder !== undefined && role === 'model') continue;
    files.push({ ...(await digestFile(resolve(folder, file))), role, name: nameOf(file, path) });
  }
  return files;
}

/** Return the path of a file below the folder of the model, which the model refers to; else its name. */
function nameOf(file: string, model: string | undefined): string {
  const below = relative(dirname(model ?? ''), file).split(sep);
  return below[0] === '..' || isAbsolute(below.join(sep)) ? basename(file) : below.join('/');
}

async function upload(
  context: CliContext,
  flags: PushFlags,
  model_name: string,
  path: string | undefined,
): Promise<Model> {
  const files = await filesOf(context, flags, path);
  const { client } = await connect(context.env);
  const line = new LiveLine(context.printer);
  const model = { model_name, shapes: shapesOf(flags) };
  const work = async (signal: AbortSignal) => {
    // What the service refuses of any file, it refuses before one is sent.
    if (files.length > 1) for (const file of files) await announceModelFile(client, model, file, signal);
    for (const file of files) {
      const onProgress = (bytes: number) =>
        line.set(`${file.name}: ${bytesText(bytes)} of ${bytesText(file.size)}`);
      await sendModelFile(client, model, file, { signal, onProgress });
    }
    const route = 'PUT /optimization/models/{model_name}';
    return client.call<typeof putModel>(route, { path: { model_name }, query: shapesOf(flags), signal });
  };
  try {
    return await untilInterrupted(
      work,
      `Interrupted; ${model_name} waits a day for the missing files. Run the same command again to continue.`,
    );
  } finally {
    line.end();
  }
}

const fileFlag = (brief: string) => text('FILE', brief);

const fromFlag = (brief: string) => ({ ...text('ID', brief), proposeCompletions: experimentIds }) as const;

const pushCommand = command({
  brief: 'Upload an ONNX model, or register one from the artifacts of an experiment',
  help: `Files above 64 MiB are sent in parts, so an interrupted upload continues. With --from, digits-calibration.npz and digits-test.npz next to digits.onnx become its data sets, unless you name others or give --no-sets. A tokenizer.json beside the ONNX file is part of the model, with the settings beside it: once served, the model takes texts.

Examples:
  mps models push digits digits.onnx --calibration samples.npz
  mps models push reviews ./my-sentence-model
  mps models push digits digits.onnx --from latest
  mps models push digits digits.onnx --from latest --evaluation digits-test.npz`,
  args: [
    modelArgument,
    {
      brief: 'ONNX file, or a folder with one and its tokenizer; with --from, its path among the artifacts',
      placeholder: 'PATH',
      parse: String,
    },
  ],
  flags: {
    data: { ...fileFlag('External data file of the model; may be repeated'), variadic: true },
    calibration: fileFlag('npz file with inputs for calibration'),
    evaluation: fileFlag('npz file with inputs and labels for measuring accuracy'),
    inputs: { ...fileFlag('Shapes of the inputs, such as image:1x3x224x224'), placeholder: 'SHAPES' },
    outputs: { ...fileFlag('Shapes of the outputs'), placeholder: 'SHAPES' },
    from: fromFlag('Experiment whose artifacts to register; all paths are then artifact paths'),
    sets: {
      kind: 'boolean',
      brief: 'With --from: use the calibration and evaluation sets next to the model (default: yes)',
      optional: true,
    },
    project,
    json,
  },
  async run(flags, model_name, path) {
    const model = await (flags.from === undefined ? upload : register)(this, flags, model_name, path);
    if (flags.json) this.printer.json(model);
    else {
      const { opset, nodes, bytes, files } = model;
      const parts = [
        { file: 'tokenizer.json', called: 'tokenizer' },
        { file: 'preprocessor_config.json', called: 'image processor' },
      ].flatMap(({ file, called }) =>
        files.some(({ name }) => name === file) ? [`, with its ${called}`] : [],
      );
      this.printer.say(`${model_name}  ${bytesText(bytes)}, opset ${opset}, ${nodes} nodes${parts.join('')}`);
    }
  },
});

const setsCommand = command({
  brief: 'Add or replace the calibration or evaluation set of a model',
  help: `Examples:
  mps models sets digits --evaluation digits-test.npz
  mps models sets digits --calibration sets/samples.npz --from latest`,
  args: [modelArgument],
  flags: {
    calibration: fileFlag('npz file with inputs for calibration'),
    evaluation: fileFlag('npz file with inputs and labels for measuring accuracy'),
    from: fromFlag('Experiment to take them from; the paths are then artifact paths'),
    project,
    json,
  },
  /** Add data sets to an existing model. */
  async run(flags, model_name) {
    const { project: given, from, json: isJson } = flags;
    const sets = setsOf(flags);
    if (Object.keys(sets).length === 0)
      throw new CliError('Give --calibration, --evaluation or both.', exitCodes.usage);
    const add = async (): Promise<Model> => {
      if (from === undefined) return upload(this, flags, model_name, undefined);
      const { session, path } = await namedExperiment(this, given, from);
      const query = { experiment_id: path.experiment_id, ...sets };
      return (await session.client.call<typeof createModel>(createRoute, { path: { model_name }, query }))
        .model;
    };
    const model = await add();
    if (isJson) this.printer.json(model);
    else this.printer.say(`${model_name}  with ${setNames(model).join(' and ')}`);
  },
});

const rmCommand = command({
  brief: 'Delete a model',
  help: 'Example:\n  mps models rm digits --yes',
  args: [modelArgument],
  flags: { yes, json },
  aliases: { y: 'yes' },
  async run({ yes: isSure, json: isJson }, model_name) {
    const { client } = await connect(this.env);
    if (!isSure) await agree(this, `Delete the model ${model_name}?`, 'Nothing was deleted.');
    const route = 'DELETE /optimization/models/{model_name}';
    const removed = await client.call<typeof deleteModel>(route, { path: { model_name } });
    if (isJson) this.printer.json(removed);
    else this.printer.say(`Deleted ${model_name}.`);
  },
});

export const modelRoutes = buildRouteMap<string, CliContext>({
  routes: { push: pushCommand, sets: setsCommand, ls: lsCommand, rm: rmCommand },
  docs: { brief: 'Upload, list and delete models, and set their data sets' },
});
