import { readProjectObjects, writeModelObjects } from '../../../shared/aws/needs.ts';
import { badRequest } from '../../../shared/core/service-error.ts';
import { requireReachedProject } from '../../../shared/data/accounts/token-scope.ts';
import { findArtifact, projectOfArtifact } from '../../../shared/data/experiments/artifact.ts';
import type { Model } from '../../../shared/data/models/model.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import type { Caller } from '../../../shared/http/definition/endpoint-context.ts';
import { ModelError } from '../../../shared/onnx/model/model-error.ts';
import { registerArtifact } from '../../../shared/onnx-models/register-artifact.ts';
import { addSets } from './add-sets.ts';
import { announceFile, ModelTicket, ticketFor } from './announce-file.ts';
import { changeModel } from './change-model.ts';
import { showModel } from './model-answer.ts';
import { modelPath, modelRequest, readModelRequest } from './model-request.ts';
import { projectOf } from './project-of.ts';

export const endpoint = defineEndpoint({
  name: 'createModel',
  method: 'POST',
  path: '/optimization/models/{model_name}',
  summary: 'Upload a file of a model, or register artifacts as one',
  description:
    'To upload, send a request with `sha256` and `size` for each `file`: the ONNX file (`model`), each external data file (`data`, with its `name`), and optionally a `calibration` and an `evaluation` set (npz: arrays by input name; `labels` for evaluation). Send the bytes with the method, URL and exactly the headers of the response. Above 5 GB, or with `multipart`, send each part of `parts` separately. A repeated request returns the missing parts. Then PUT here. To register an artifact of an experiment, give `experiment_id` and the `path` of the ONNX artifact. External data next to it and the given `calibration` and `evaluation` artifacts are registered with it, and the model is ready at once. Without `path`, the given sets are added to a ready model.',
  allow: 'developer',
  right: 'run',
  keepsToProjects: true,
  audit: { fields: ['file', 'experiment_id', 'sha256'] },
  needs: { records: writeRecords, objects: writeModelObjects, artifacts: readProjectObjects },
  input: { path: modelPath, query: modelRequest },
  output: { 200: ModelTicket },
  problems: ['conflict', 'not-found'],
  idempotent: { kind: 'signs', table: 'records' },

  async handle({ path: { model_name }, query }, context) {
    const { records, objects, caller } = context;
    const wanted = readModelRequest(query);
    const given = { inputs: query.inputs ?? null, outputs: query.outputs ?? null };
    return changeModel(records, model_name, caller, async (present) => {
      await requireReached(records, caller, present, wanted);
      if (wanted.kind === 'upload') {
        const { model, file } = await announceFile(context, model_name, present, wanted, given);
        return { model: showModel(model), ...(await ticketFor(objects, file)) };
      }
      if (wanted.kind === 'sets') {
        const model = await addSets(context, model_name, present, wanted, given);
        return { model: showModel(model), ...(await ticketFor(objects, undefined)) };
      }
      try {
        const model = await registerArtifact(context, model_name, wanted, given);
        return { model: showModel(model), ...(await ticketFor(objects, undefined)) };
      } catch (error) {
        if (!(error instanceof ModelError)) throw error;
        throw badRequest([{ in: 'query', name: 'path', message: error.message }]);
      }
    });
  },
});

/** Refuse a token whose scope leaves out the project of the artifacts, or that of the model of this name. */
async function requireReached(
  records: TableReader<'records'>,
  caller: Caller,
  present: Model | undefined,
  wanted: ReturnType<typeof readModelRequest>,
): Promise<void> {
  if (!caller.scope?.projects) return;
  if (present !== undefined) requireReachedProject(caller, await projectOf(records, present));
  if (wanted.kind === 'upload') return requireReachedProject(caller, null);
  const { experiment_id, calibration, evaluation } = wanted;
  const path = (wanted.kind === 'artifact' ? wanted.path : (calibration ?? evaluation)) ?? '';
  const artifact = await findArtifact(records, experiment_id, path);
  requireReachedProject(caller, artifact && projectOfArtifact(artifact));
}
