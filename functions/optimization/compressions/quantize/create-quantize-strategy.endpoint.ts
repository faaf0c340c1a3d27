import * as z from 'zod';
import { controlBatch } from '../../../../shared/aws/needs.ts';
import { readVariablesKey } from '../../../../shared/data/projects/variable.ts';
import { writeRecords } from '../../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../../shared/http/definition/definition.ts';
import { answerAdmitted, replayAdmitted } from '../../../../shared/jobs/admission.ts';
import {
  allowedQuantizations,
  checkQuantization,
} from '../../../../shared/onnx/strategies/quantize-request.ts';
import {
  quantizeParameters,
  quantizeStrategyNames,
} from '../../../../shared/onnx/strategies/quantize-strategies.ts';
import { modelName } from '../../models/model-request.ts';
import { beginCompression, compressionReplies } from '../begin-compression.ts';
import { compressionAnswers, showQuantization } from '../compression-answer.ts';
import { checkedQuery, jobParameters, named, queryParameters, requireAllowed } from '../compression-query.ts';

const method = {
  strategy: named(quantizeStrategyNames).describe(
    'Quantization strategy, such as `static_minmax`. GET /optimization/quantize/methods describes each.',
  ),
  ...queryParameters(quantizeParameters),
};

export const endpoint = defineEndpoint({
  name: 'createQuantizeStrategy',
  method: 'POST',
  path: '/optimization/quantize',
  summary: 'Quantize a model',
  description:
    'The model itself never changes. The result becomes a new model if `result_name` is given. GET /optimization/quantize/methods lists the allowed combinations.',
  allow: 'developer',
  right: 'run',
  keepsToProjects: true,
  audit: { fields: ['model_name', 'strategy', 'precision', 'quant_type'] },
  needs: { records: writeRecords, batch: controlBatch, keys: readVariablesKey },
  input: {
    query: checkedQuery(z.strictObject({ model_name: modelName, ...method, ...jobParameters }), {
      method,
      check: checkQuantization,
      allowed: allowedQuantizations,
    }),
  },
  output: { 200: compressionAnswers.quantize },
  problems: ['conflict', 'not-found'],
  fieldsMask: true,
  etag: true,
  idempotent: {
    kind: 'creates',
    table: 'records',
    replayCreated: (strategy_id, context) =>
      replayAdmitted(strategy_id, compressionReplies('quantize', showQuantization, context), context),
  },

  async handle({ query }, context) {
    const { model_name, result_name, vcpus, memory, timeout, budget, ...asked } = query;
    const request = requireAllowed(checkQuantization(asked));
    const size = { result_name, vcpus, memory, timeout, budget };
    const admitted = await beginCompression(
      { model_name, request, inputs: null, outputs: null, ...size },
      context,
    );
    return answerAdmitted(admitted, compressionReplies('quantize', showQuantization, context), context);
  },
});
