import * as z from 'zod';
import type { OptimizationKind } from '../../../shared/data/jobs/job.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { pruneSchemas } from '../../../shared/onnx/strategies/prune-request.ts';
import { quantizeSchemas } from '../../../shared/onnx/strategies/quantize-request.ts';

/** The endpoint that lists the methods of an operation. */
export const methodList = (kind: OptimizationKind) =>
  defineEndpoint({
    ...words[kind],
    method: 'GET',
    path: `/optimization/${kind}/methods`,
    description: `Schema that validates the method of a request. POST /optimization/${kind} also takes \`model_name\`, the name of the result and the size of the job. Lists such as \`exclude\` are sent in the query as names separated by commas.${shapesOfPrunings[kind]}`,
    allow: 'viewer',
    right: 'read',
    keepsToProjects: true,
    needs: {},
    input: {},
    output: { 200: MethodsAnswer },

    handle: async () =>
      methodSchema(
        `Method of POST /optimization/${kind}: allowed combinations of parameters`,
        methods[kind](),
      ),
  });

const words = {
  prune: { name: 'listPruneMethods', summary: 'Every allowed pruning, as JSON Schema' },
  quantize: { name: 'listQuantizeMethods', summary: 'Every allowed quantization, as JSON Schema' },
} as const;

/** A pruning requires shapes, which are not part of its method. */
const shapesOfPrunings = {
  prune:
    ' It also requires the shapes `inputs` and `outputs`; `auto` uses the shapes of the registered model.',
  quantize: '',
} as const;

const MethodsAnswer = z
  .object({
    $schema: z.string(),
    title: z.string(),
    /** One schema for each allowed combination. */
    anyOf: z.array(z.record(z.string(), z.unknown())),
  })
  .meta({ id: 'Methods' });

/** Build a JSON Schema (2020-12). Each `anyOf` entry is one allowed combination, as a caller sends it. */
function methodSchema(title: string, methods: readonly z.ZodObject[]): MethodSchema {
  const anyOf = methods.map((method) => {
    const made = z.toJSONSchema(method, { io: 'input', target: 'draft-2020-12' });
    // The request path already names the operation.
    const { $schema: _, properties: { operation: _operation, ...properties } = {}, ...schema } = made;
    return { ...schema, properties };
  });
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', title, anyOf };
}

const methods = { prune: pruneSchemas, quantize: quantizeSchemas };

/** A JSON Schema (2020-12) of requests. */
interface MethodSchema {
  $schema: string;
  title: string;
  anyOf: Record<string, unknown>[];
}
