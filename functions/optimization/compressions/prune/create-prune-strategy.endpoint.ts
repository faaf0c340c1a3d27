import * as z from 'zod';
import { controlBatch } from '../../../../shared/aws/needs.ts';
import { readVariablesKey } from '../../../../shared/data/projects/variable.ts';
import { writeRecords } from '../../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../../shared/http/definition/definition.ts';
import { answerAdmitted, replayAdmitted } from '../../../../shared/jobs/admission.ts';
import { allowedPrunings, checkPruning } from '../../../../shared/onnx/strategies/prune-request.ts';
import { pruneParameters, pruneStrategyNames } from '../../../../shared/onnx/strategies/prune-strategies.ts';
import { autoShapes, modelName, requiredShapes } from '../../models/model-request.ts';
import { beginCompression, compressionReplies } from '../begin-compression.ts';
import { compressionAnswers, showPruning } from '../compression-answer.ts';
import { checkedQuery, jobParameters, named, queryParameters, requireAllowed } from '../compression-query.ts';

const method = {
  strategy: named(pruneStrategyNames).describe(
    'Pruning strategy, such as `structured_l2`. GET /optimization/prune/methods describes each.',
  ),
  ...queryParameters(pruneParameters),
};

/** Null stands for the shapes of the model itself. */
const shapesIn = (text: string): string | null => (text === autoShapes ? null : text);

export const endpoint = defineEndpoint({
  name: 'createPruneStrategy',
  method: 'POST',
  path: '/optimization/prune',
  summary: 'Prune a model',
  description:
    'The model itself never changes. The result becomes a new model if `result_name` is given. GET /optimization/prune/methods lists the allowed combinations.',
  allow: 'developer',
  right: 'run',
  keepsToProjects: true,
  audit: { fields: ['model_name', 'strategy', 'compression'] },
  needs: { records: writeRecords, batch: controlBatch, keys: readVariablesKey },
  input: {
    query: checkedQuery(
      z.strictObject({ model_name: modelName, ...requiredShapes, ...method, ...jobParameters }),
      { method, check: checkPruning, allowed: allowedPrunings },
    ),
  },
  output: { 200: compressionAnswers.prune },
  problems: ['conflict', 'not-found'],
  fieldsMask: true,
  etag: true,
  idempotent: {
    kind: 'creates',
    table: 'records',
    replayCreated: (strategy_id, context) =>
      replayAdmitted(strategy_id, compressionReplies('prune', showPruning, context), context),
  },

  async handle({ query }, context) {
    const { model_name, inputs, outputs, result_name, vcpus, memory, timeout, budget, ...asked } = query;
    const request = requireAllowed(checkPruning(asked));
    const size = { result_name, vcpus, memory, timeout, budget };
    const shapes = { inputs: shapesIn(inputs), outputs: shapesIn(outputs) };
    const admitted = await beginCompression({ model_name, request, ...shapes, ...size }, context);
    return answerAdmitted(admitted, compressionReplies('prune', showPruning, context), context);
  },
});
