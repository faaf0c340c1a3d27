import { controlBatch } from '../../../shared/aws/needs.ts';
import { readUsers } from '../../../shared/data/accounts/needs.ts';
import { requireProject } from '../../../shared/data/projects/project.ts';
import { readVariablesKey } from '../../../shared/data/projects/variable.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { ExperimentAnswer } from '../../../shared/experiments/experiment-answer.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { fields } from '../../../shared/http/definition/endpoint-input.ts';
import { projectToChange } from '../../../shared/http/pipeline/project-authorization.ts';
import { answerAdmitted, replayAdmitted } from '../../../shared/jobs/admission.ts';
import { experimentAnswers, recordExperiment } from '../../../shared/training/record-experiment.ts';
import { exportInputs } from './export-inputs.ts';
import { ExportRequest } from './export-request.ts';
import { projectOfExport } from './project-of-export.ts';

export const endpoint = defineEndpoint({
  name: 'createExport',
  method: 'POST',
  path: '/optimization/exports',
  summary: 'Export a model to ONNX, and compress it',
  description:
    'Exports a model of the Hugging Face Hub, or of the artifacts of an experiment. The export is an experiment of the project: read, follow and cancel it as one. Its environment has fixed versions of PyTorch and Transformers. Of the variables of the project it gets HF_TOKEN, HF_ENDPOINT, and addresses of packages that are no secrets. When it has succeeded, its model is registered with its tokenizer and sets, and quantized with the strategy auto. `model_export` of the experiment names both models and the quantization.',
  allow: 'developer',
  right: 'run',
  keepsToProjects: true,
  audit: { fields: ['source', 'name', 'task', 'for', 'max_loss', 'data', 'trust_remote_code', 'budget'] },
  needs: { records: writeRecords, accounts: readUsers, batch: controlBatch, keys: readVariablesKey },
  input: { body: fields(ExportRequest) },
  output: { 200: ExperimentAnswer },
  problems: ['conflict', 'not-found', 'too-large', 'unsupported-media-type'],
  etag: true,
  idempotent: {
    kind: 'creates',
    table: 'records',
    async replayCreated(id, context) {
      const [project_id = '', experiment_id = ''] = id.split('/');
      const project = await requireProject(context.records, project_id);
      return replayAdmitted(experiment_id, experimentAnswers({ ...context, project }), context);
    },
  },

  async handle({ body }, context) {
    const { records, caller, noteAudit } = context;
    const project_id = await projectOfExport(records, body);
    const project = await projectToChange(records, project_id, caller);
    noteAudit({ project_id });
    const inputs = await exportInputs(body, project, context);
    const idempotencyWrites = (experiment_id: string) =>
      context.idempotencyWrites(`${project_id}/${experiment_id}`);
    const admitted = await recordExperiment(inputs, { ...context, project, idempotencyWrites });
    return answerAdmitted(admitted, experimentAnswers({ ...context, project }), context);
  },
});
