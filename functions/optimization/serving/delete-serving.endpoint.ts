import * as z from 'zod';
import { FileId } from '../../../shared/core/formats.ts';
import { notFound } from '../../../shared/core/service-error.ts';
import { requireModel } from '../../../shared/data/models/model.ts';
import {
  findServing,
  keepWarm,
  removeServedVersion,
  removeServing,
} from '../../../shared/data/models/serving.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { retryOnConflict } from '../../../shared/data/table/retry-on-conflict.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { requireOwn } from '../models/change-model.ts';
import { modelPath } from '../models/model-request.ts';

export const endpoint = defineEndpoint({
  name: 'deleteServing',
  method: 'DELETE',
  path: '/optimization/models/{model_name}/serving',
  summary: 'Serve a model no longer',
  description:
    'The next request gets 404. The model, its strategies and the counters stay; versions and aliases go.',
  allow: 'developer',
  needs: { records: writeRecords },
  input: { path: modelPath },
  output: { 200: z.object({ model_name: FileId, served: z.boolean() }) },
  problems: ['conflict', 'not-found'],

  async handle({ path: { model_name } }, { records, caller }) {
    await retryOnConflict(async () => {
      requireOwn(await requireModel(records, model_name), caller);
      const serving = await findServing(records, model_name);
      if (serving === undefined) throw notFound('served model', model_name);
      const versions = Object.keys(serving.versions);
      await records.write(
        removeServing(model_name, serving),
        ...keepWarm({ model_name, warm: false }, serving),
        ...versions.map((name) => removeServedVersion(serving.model_id, name)),
      );
    });
    return { model_name, served: false };
  },
});
