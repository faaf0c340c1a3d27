import { dirname, join } from 'node:path';
import { parseRequest } from '../apply/parse-request.ts';
import { requireOpset } from '../apply/require-opset.ts';
import { loadModel } from '../model/load-model.ts';
import type { Model } from '../model/model.ts';
import { ModelError } from '../model-error.ts';
import type { StageAnswer } from '../stage-task/stage-answers.ts';
import type { TaskOf } from '../stage-task/stage-task.ts';
import type { OptimizationRequest } from '../strategies/optimization-request.ts';
import { requireKnown } from '../transform/require-known.ts';
import { checkAttributes } from '../verify/check-attributes.ts';
import { countParameters } from '../verify/count-parameters.ts';
import { feedPlan } from '../verify/feed-plan.ts';
import { runtimeNeeded } from '../verify/runtime-needed.ts';

/**
 * Refuse a request that the structure of the model rules out, before anything is transformed. Return notes for the
 * owner.
 * @throws ModelError for names that the model does not have, and for an operator set that is too old
 */
function requirePossible(model: Model, request: OptimizationRequest): string[] {
  const absent = requireKnown(model.graph, request.exclude);
  requireOpset(model, request);
  return absent.map((operator) => `exclude names ${operator}, of which the model has none.`);
}

function countOperators(model: Model): Record<string, number> {
  const counts = new Map<string, number>();
  for (const graph of model.graph.all()) {
    for (const { domain, opType } of graph.nodes) {
      const name = domain === '' || domain === 'ai.onnx' ? opType : `${domain}.${opType}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function opsetsOf({ proto }: Model): Record<string, number> {
  const entries = proto.opsetImport.map(({ domain, version }): [string, number] => {
    if (version < 1n || version > 2n ** 31n) {
      throw new ModelError(`The model says that it uses version ${version} of the operator set "${domain}".`);
    }
    return [domain || 'ai.onnx', Number(version)];
  });
  return Object.fromEntries(entries);
}

/** Kinds of values, in the words of onnx.proto, that no session here hands out. */
const otherOutputs: ReadonlySet<string | undefined> = new Set(['sequenceType', 'mapType', 'optionalType']);

/** Checks a model's structure, and that what is asked can be done to it; counts what it is made of. */
export function readStage({ model: path, shapes, request }: TaskOf<'read'>): StageAnswer<'read'> {
  const model = loadModel(path);
  try {
    checkAttributes(model);
    const notes = request === undefined ? [] : requirePossible(model, parseRequest(request));
    const { parameters, nonzero } = countParameters(model.graph);
    let weight_bytes = 0;
    for (const { initializers } of model.graph.all()) {
      for (const { byteLength } of initializers.values()) weight_bytes += byteLength;
    }
    return {
      inputs: feedPlan(model, shapes),
      outputs: model.graph.outputs.map(({ name }) => name),
      has_tensor_output: model.graph.outputs.some(({ type }) => !otherOutputs.has(type?.value.case)),
      weight_bytes,
      parameters,
      nonzero_parameters: nonzero,
      operators: countOperators(model),
      opsets: opsetsOf(model),
      files: [path, ...model.external.locations.map((location) => join(dirname(path), location))],
      needs_runtime: runtimeNeeded(model),
      notes,
    };
  } finally {
    model.external.close();
  }
}
