import * as z from 'zod';
import { writeModelObjects } from '../../../shared/aws/needs.ts';
import { FileId, Ulid } from '../../../shared/core/formats.ts';
import { notFound } from '../../../shared/core/service-error.ts';
import { findModelToRemove, modelRemains, removeModel } from '../../../shared/data/models/model.ts';
import { removeServing, servedRemains } from '../../../shared/data/models/serving.ts';
import { newPurge, recordPurge } from '../../../shared/data/projects/purge.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { requirePrecondition } from '../../../shared/http/definition/precondition.ts';
import { purgeInRequest } from '../../../shared/purge/purge-in-request.ts';
import { changeModel } from './change-model.ts';
import { modelPath } from './model-request.ts';

export const endpoint = defineEndpoint({
  name: 'deleteModel',
  method: 'DELETE',
  path: '/optimization/models/{model_name}',
  summary: 'Delete a model with all its files',
  description:
    'The model disappears from every read at once, and is no longer served. Its strategies keep their records, results and receipts. A strategy that has not read the model’s files yet fails.',
  allow: 'developer',
  needs: { records: writeRecords, objects: writeModelObjects },
  input: { path: modelPath },
  output: {
    200: z.object({
      model_id: Ulid,
      model_name: FileId,
      deleted: z.object({ objects: z.number().int(), bytes: z.number().int() }),
    }),
  },
  problems: ['conflict', 'not-found', 'precondition-failed'],

  async handle({ path: { model_name } }, context) {
    const { records, objects, caller } = context;
    const { model, purge } = await changeModel(
      records,
      model_name,
      caller,
      async (present) => {
        if (present === undefined) throw notFound('model', model_name);
        requirePrecondition(context, present.version);
        const remains = [modelRemains(present), servedRemains(present.model_id)];
        const purge = newPurge(context, {
          partitions: remains.flatMap(({ partitions }) => partitions),
          prefixes: remains.flatMap(({ prefixes }) => prefixes),
        });
        await records.write(...removeModel(present), removeServing(model_name), recordPurge(purge));
        return { model: present, purge };
      },
      findModelToRemove,
    );
    const { model_id, files, pending } = model;
    await purgeInRequest(context, purge, async () => {
      for (const { object, parts } of pending) {
        if (parts !== null) await objects.abortParts(object, parts.upload_id);
      }
    });
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    return { model_id, model_name, deleted: { objects: files.length, bytes } };
  },
});
