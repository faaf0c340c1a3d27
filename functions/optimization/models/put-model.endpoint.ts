import * as z from 'zod';
import { writeModelObjects } from '../../../shared/aws/needs.ts';
import { notFound } from '../../../shared/core/service-error.ts';
import { putModel } from '../../../shared/data/models/model.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { requirePrecondition } from '../../../shared/http/definition/precondition.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { acceptModel } from './accept-model.ts';
import { withdrawFiles } from './announce-file.ts';
import { changeModel } from './change-model.ts';
import { ModelDetails, showModel } from './model-answer.ts';
import { modelPath, shapeParameters } from './model-request.ts';

export const endpoint = defineEndpoint({
  name: 'putModel',
  method: 'PUT',
  path: '/optimization/models/{model_name}',
  summary: 'Accept the files that were uploaded for a model',
  description:
    'All announced files must have arrived. The service checks the ONNX file and makes the model ready. It never changes afterwards. Calibration and evaluation sets, and the shapes `inputs` and `outputs`, may be added later.',
  allow: 'developer',
  needs: { records: writeRecords, objects: writeModelObjects },
  input: { path: modelPath, query: z.strictObject(shapeParameters) },
  output: { 200: ModelDetails },
  problems: ['conflict', 'not-found', 'precondition-failed'],
  etag: true,

  async handle({ path: { model_name }, query }, { records, objects, caller, now, header, expectedVersion }) {
    const given = {
      ...(query.inputs !== undefined && { inputs: query.inputs }),
      ...(query.outputs !== undefined && { outputs: query.outputs }),
    };
    return changeModel(records, model_name, caller, async (present) => {
      if (present === undefined) throw notFound('model', model_name);
      requirePrecondition({ header, expectedVersion }, present.version);
      const accepted = await acceptModel(objects, present, given);
      const { shapes, pending, status } = present;
      const isAsBefore =
        status === accepted.status &&
        pending.length === 0 &&
        shapes.inputs === accepted.shapes.inputs &&
        shapes.outputs === accepted.shapes.outputs;
      if (isAsBefore) return Reply.json(showModel(present), { version: present.version });
      const next = { ...accepted, updated_at: now().toISOString(), version: present.version + 1 };
      await putModel(records, next, present);
      await withdrawFiles(records, pending);
      return Reply.json(showModel(next), { version: next.version });
    });
  },
});
