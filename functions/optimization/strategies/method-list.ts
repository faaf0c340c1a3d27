import * as z from 'zod';
import type { OptimizationKind } from '../../../shared/data/job.ts';
import { defineEndpoint } from '../../../shared/http/definition.ts';
import { methodSchema } from '../../../shared/onnx/strategies/methods-document.ts';
import { pruneSchemas } from '../../../shared/onnx/strategies/prune-request.ts';
import { quantizeSchemas } from '../../../shared/onnx/strategies/quantize-request.ts';

const words = {
  prune: { name: 'listPruneMethods', summary: 'Every allowed pruning, as JSON Schema' },
  quantize: { name: 'listQuantizeMethods', summary: 'Every allowed quantization, as JSON Schema' },
} as const;

const methods = { prune: pruneSchemas, quantize: quantizeSchemas };

const MethodsAnswer = z
  .object({
    $schema: z.string(),
    title: z.string(),
    /** One for each allowed combination. */
    anyOf: z.array(z.record(z.string(), z.unknown())),
  })
  .meta({ id: 'Methods' });

/** A pruning must name shapes, which are no part of its method. */
const shapesOfPrunings = {
  prune: ' The shapes `inputs` and `outputs` stand there, too; `auto` takes those of the registered model.',
  quantize: '',
} as const;

/** The methods of an operation. */
export const methodList = (kind: OptimizationKind) =>
  defineEndpoint({
    ...words[kind],
    method: 'GET',
    path: `/optimization/${kind}/methods`,
    description: `The same table by which requests are judged, as far as they choose a method: \`model_name\` and what sizes and names the job and its result stand beside it at POST /optimization/${kind}. Lists such as \`exclude\` are given in the query as names separated by commas.${shapesOfPrunings[kind]}`,
    allow: 'viewer',
    needs: {},
    input: {},
    output: { 200: MethodsAnswer },

    handle: async () =>
      methodSchema(`Method of POST /optimization/${kind}: parameters that go together`, methods[kind]()),
  });
