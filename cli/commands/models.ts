import { basename, resolve } from 'node:path';
import { buildCommand, buildRouteMap } from '@stricli/core';
import type { endpoint as createModel } from '../../functions/optimization/models/create-model.endpoint.ts';
import type { endpoint as deleteModel } from '../../functions/optimization/models/delete-model.endpoint.ts';
import type { endpoint as listModels } from '../../functions/optimization/models/list-models.endpoint.ts';
import type { endpoint as putModel } from '../../functions/optimization/models/put-model.endpoint.ts';
import type { AnswerOf } from '../../shared/client/route.ts';
import { bytesText } from '../../shared/core/bytes-text.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { experimentIds } from '../completion/live-names.ts';
import type { CliContext } from '../context.ts';
import { namedExperiment } from '../experiments/find-experiment.ts';
import { connect } from '../login/connect.ts';
import { agree } from '../output/agree.ts';
import { LiveLine } from '../output/live-line.ts';
import { digestFile } from '../upload/digest-file.ts';
import { type ModelFile, sendModelFile } from '../upload/model-upload.ts';
import { untilInterrupted } from '../upload/until-interrupted.ts';
import { modelArgument } from './arguments.ts';
import { json, project, verbose, yes } from './flags.ts';

interface Flags {
  json?: boolean;
  verbose?: boolean;
}

type Model = AnswerOf<typeof putModel>;

async function ls(this: CliContext, { json: isJson }: Flags): Promise<void> {
  const { client } = await connect(this.env);
  const rows: string[][] = [];
  for await (const model of client.rows<typeof listModels>('GET /optimization/models')) {
    if (isJson) this.process.stdout.write(`${JSON.stringify(model)}\n`);
    const sets = [
      ...(model.has_calibration ? ['calibration'] : []),
      ...(model.has_evaluation ? ['evaluation'] : []),
    ];
    rows.push([
      model.model_name,
      model.status,
      bytesText(model.bytes),
      String(model.parameters ?? ''),
      sets.join(', '),
    ]);
  }
  if (!isJson) this.printer.table(['MODEL', 'STATUS', 'SIZE', 'PARAMETERS', 'DATA'], rows);
}

const lsCommand = buildCommand({
  func: ls,
  parameters: { flags: { json, verbose } },
  docs: { brief: 'List the models', fullDescription: 'Example:\n  mps models ls' },
});

interface PushFlags extends Flags {
  data?: readonly string[];
  calibration?: string;
  evaluation?: string;
  inputs?: string;
  outputs?: string;
  from?: string;
  project?: string;
}

const shapesOf = ({ inputs, outputs }: PushFlags) => ({
  ...(inputs !== undefined && { inputs }),
  ...(outputs !== undefined && { outputs }),
});

/** Registers what an experiment left. */
async function register(
  context: CliContext,
  flags: PushFlags,
  model_name: string,
  path: string,
): Promise<Model> {
  const { project: given, from, calibration, evaluation } = flags;
  if (flags.data !== undefined)
    throw new CliError(
      '--data is for uploads: of an experiment, external data comes along.',
      exitCodes.usage,
    );
  const { session, path: found } = await namedExperiment(context, given, from);
  const { model } = await session.client.call<typeof createModel>('POST /optimization/models/{model_name}', {
    path: { model_name },
    query: {
      experiment_id: found.experiment_id,
      path,
      ...(calibration !== undefined && { calibration }),
      ...(evaluation !== undefined && { evaluation }),
      ...shapesOf(flags),
    },
  });
  return model;
}

async function filesOf({ folder }: CliContext, flags: PushFlags, path: string): Promise<ModelFile[]> {
  const { data = [], calibration, evaluation } = flags;
  const wanted: [ModelFile['role'], string][] = [
    ['model', path],
    ...data.map((file): [ModelFile['role'], string] => ['data', file]),
    ...(calibration === undefined ? [] : [['calibration', calibration] as [ModelFile['role'], string]]),
    ...(evaluation === undefined ? [] : [['evaluation', evaluation] as [ModelFile['role'], string]]),
  ];
  const files: ModelFile[] = [];
  for (const [role, file] of wanted)
    files.push({ ...(await digestFile(resolve(folder, file))), role, name: basename(file) });
  return files;
}

async function upload(
  context: CliContext,
  flags: PushFlags,
  model_name: string,
  path: string,
): Promise<Model> {
  const files = await filesOf(context, flags, path);
  const { client } = await connect(context.env);
  const line = new LiveLine(context.printer);
  const work = async (signal: AbortSignal) => {
    for (const file of files) {
      const onProgress = (bytes: number) =>
        line.set(`${file.name}: ${bytesText(bytes)} of ${bytesText(file.size)}`);
      await sendModelFile(client, model_name, file, { signal, onProgress });
    }
    const route = 'PUT /optimization/models/{model_name}';
    return client.call<typeof putModel>(route, { path: { model_name }, query: shapesOf(flags), signal });
  };
  try {
    return await untilInterrupted(
      work,
      `Interrupted; ${model_name} waits for the rest for a day. The same command goes on where it was.`,
    );
  } finally {
    line.end();
  }
}

async function push(this: CliContext, flags: PushFlags, model_name: string, path: string): Promise<void> {
  const model = await (flags.from === undefined ? upload : register)(this, flags, model_name, path);
  if (flags.json) this.printer.json(model);
  else {
    const { opset, nodes, bytes } = model;
    this.printer.say(`${model_name}  ${bytesText(bytes)}, opset ${opset}, ${nodes} nodes`);
  }
}

const fileFlag = (brief: string) =>
  ({ kind: 'parsed', parse: String, placeholder: 'FILE', brief, optional: true }) as const;

const pushCommand = buildCommand({
  func: push,
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        modelArgument,
        {
          brief: 'The ONNX file; with --from its path among the artifacts',
          placeholder: 'PATH',
          parse: String,
        },
      ],
    },
    flags: {
      data: { ...fileFlag('External data of the model; may be repeated'), variadic: true },
      calibration: fileFlag('npz of inputs by which ranges are found'),
      evaluation: fileFlag('npz of inputs and labels by which accuracy is measured'),
      inputs: { ...fileFlag('Shapes of the inputs, such as image:1x3x224x224'), placeholder: 'SHAPES' },
      outputs: { ...fileFlag('Shapes of the outputs'), placeholder: 'SHAPES' },
      from: {
        kind: 'parsed',
        parse: String,
        proposeCompletions: experimentIds,
        placeholder: 'ID',
        brief: 'Register what this experiment left; all paths are then those of artifacts',
        optional: true,
      },
      project,
      json,
      verbose,
    },
    aliases: { p: 'project' },
  },
  docs: {
    brief: 'Upload an ONNX model, or register one that an experiment left',
    fullDescription: `Files above 64 MiB go in parts: an interrupted upload goes on where it was.

Examples:
  mps models push digits digits.onnx --calibration samples.npz
  mps models push digits digits.onnx --from latest --evaluation digits-test.npz`,
  },
});

interface RmFlags extends Flags {
  yes?: boolean;
}

async function rm(
  this: CliContext,
  { yes: isSure, json: isJson }: RmFlags,
  model_name: string,
): Promise<void> {
  const { client } = await connect(this.env);
  if (!isSure) await agree(this, `Delete the model ${model_name}?`, 'Nothing was deleted.');
  const route = 'DELETE /optimization/models/{model_name}';
  const removed = await client.call<typeof deleteModel>(route, { path: { model_name } });
  if (isJson) this.printer.json(removed);
  else this.printer.say(`Deleted ${model_name}.`);
}

const rmCommand = buildCommand({
  func: rm,
  parameters: {
    positional: { kind: 'tuple', parameters: [modelArgument] },
    flags: { yes, json, verbose },
    aliases: { y: 'yes' },
  },
  docs: { brief: 'Delete a model', fullDescription: 'Example:\n  mps models rm digits --yes' },
});

export const modelRoutes = buildRouteMap<string, CliContext>({
  routes: { push: pushCommand, ls: lsCommand, rm: rmCommand },
  docs: { brief: 'Upload, list and delete models' },
});
