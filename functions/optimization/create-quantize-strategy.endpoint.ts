import * as z from 'zod';
import { controlBatch } from '../../shared/aws/needs.ts';
import { writeRecords } from '../../shared/data/needs.ts';
import { defineEndpoint } from '../../shared/endpoint/definition.ts';
import { lambda } from '../../shared/endpoint/lambda.ts';
import { flag, integer } from '../../shared/endpoint/parameters.ts';
import { meanings } from '../../shared/onnx/methods/meanings.ts';
import { allowedQuantization, judgeQuantization } from '../../shared/onnx/methods/quantize-methods.ts';
import { quantizeStrategies, quantTypes } from '../../shared/onnx/methods/strategies.ts';
import { beginStrategy } from './begin-strategy.ts';
import { judgedQuery, requireAllowed } from './judged-query.ts';
import { answerMade, submitAndAnswer } from './recorded-strategy.ts';
import { jobParameters, methodParameters, modelName, named, names } from './request-parameters.ts';
import { showQuantization, strategyAnswers } from './strategy-answer.ts';

const method = {
  strategy: named(quantizeStrategies).describe(
    'How to quantize, such as `static_minmax`; GET /optimization/quantize/methods says what each does.',
  ),
  precision: integer(1, 64).describe('Bits of a weight: `8`, with weight_only also `4`, with float16 `16`.'),
  quant_type: named(quantTypes)
    .optional()
    .describe(`${meanings.quantType} Such as \`uint8\`; without it the strategy's own.`),
  leaf_node: flag.default(false).describe(`${meanings.leafNode} \`true\` or \`false\`.`),
  include: names.optional().describe(`${meanings.include} Separated by commas, such as \`Conv\`.`),
  per_channel: flag
    .optional()
    .describe(`${meanings.perChannel} \`true\` or \`false\`; without it the strategy's own.`),
  reduce_range: flag.optional().describe(`${meanings.reduceRange} \`true\` or \`false\`.`),
  ...methodParameters(meanings.maxErrorOfQuantization),
};

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
    query: judgedQuery(z.strictObject({ model_name: modelName, ...method, ...jobParameters }), {
      method,
      judge: judgeQuantization,
      allowed: allowedQuantization,
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
    const request = requireAllowed(judgeQuantization(asked));
    const size = { result_name, vcpus, memory, timeout };
    const strategy = await beginStrategy(
      { model_name, request, inputs: null, outputs: null, ...size },
      context,
    );
    return submitAndAnswer(strategy, showQuantization, context, true);
  },
});

export const handler = lambda(endpoint);
