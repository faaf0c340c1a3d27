import * as z from 'zod';
import { controlBatch } from '../../shared/aws/needs.ts';
import { writeRecords } from '../../shared/data/needs.ts';
import { defineEndpoint } from '../../shared/endpoint/definition.ts';
import { lambda } from '../../shared/endpoint/lambda.ts';
import { FileId, flag, integer } from '../../shared/endpoint/parameters.ts';
import {
  allowedQuantization,
  judgeQuantization,
  quantizeStrategies,
  quantTypes,
} from '../../shared/onnx/methods/quantize-methods.ts';
import { beginStrategy } from './begin-strategy.ts';
import { answerMade, submitAndAnswer } from './recorded-strategy.ts';
import { named, names, requireAllowed, strategyParameters } from './request-parameters.ts';
import { showQuantization, strategyAnswers } from './strategy-answer.ts';

export const endpoint = defineEndpoint({
  name: 'createQuantizeStrategy',
  method: 'POST',
  path: '/optimization/quantize',
  summary: 'Quantize a model',
  description:
    'The model is pinned as it is and never changed; the result is a model of its own, under `result_name` where one is given. GET /optimization/quantize/methods says what can be asked for.',
  allow: 'developer',
  needs: { records: writeRecords, batch: controlBatch },
  input: {
    query: z.strictObject({
      model_name: FileId,
      strategy: named(quantizeStrategies),
      precision: integer(1, 64),
      quant_type: named(quantTypes).optional(),
      leaf_node: flag.default(false),
      include: names.optional(),
      per_channel: flag.optional(),
      reduce_range: flag.optional(),
      ...strategyParameters,
    }),
  },
  output: { 200: strategyAnswers.quantize },
  problems: ['conflict', 'not-found'],
  fieldsMask: true,
  etag: true,
  idempotent: {
    kind: 'creates',
    table: 'records',
    answerMade: (strategy_id, context) => answerMade('quantize', strategy_id, showQuantization, context),
  },

  async handle({ query }, context) {
    const { model_name, result_name, vcpus, memory, timeout, ...asked } = query;
    const request = requireAllowed(judgeQuantization(asked), allowedQuantization);
    const size = { result_name, vcpus, memory, timeout };
    const strategy = await beginStrategy(
      { model_name, request, inputs: null, outputs: null, ...size },
      context,
    );
    return submitAndAnswer(strategy, showQuantization, context, true);
  },
});

export const handler = lambda(endpoint);
