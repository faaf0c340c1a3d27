import { dirname, join } from 'node:path';
import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import type { TaskOf } from '../../measure/session/stage-task.ts';
import { checkAttributes } from '../../measure/verify/check-attributes.ts';
import { countParameters } from '../../measure/verify/count-parameters.ts';
import { feedPlan } from '../../measure/verify/feed-plan.ts';
import { runtimeNeeded } from '../../measure/verify/runtime-needed.ts';
import { parseRequest } from '../../methods/apply/parse-request.ts';
import { opsetWanted } from '../../methods/opset/opset-wanted.ts';
import { raiseOpset } from '../../methods/opset/raise-opset.ts';
import { alreadyQuantized } from '../../methods/report/already-quantized.ts';
import { requireKnown } from '../../methods/report/require-known.ts';
import { loadModel } from '../../model/file/load-model.ts';
import type { Model } from '../../model/file/model.ts';
import { operatorName } from '../../model/graph/graph.ts';
import { ModelError } from '../../model/model-error.ts';
import type { OptimizationRequest } from '../../strategies/optimization-request.ts';

/** The opset that a model is upgraded to for a request, with notes for the owner. */
interface Raised {
  raise_to: number | null;
  notes: string[];
}

/**
 * Find out whether a model can be upgraded to the best opset for a request. Consumes the model.
 *
 * @throws ModelError if the upgrade fails and the request requires it
 */
function raisedFor(
  path: string,
  own: number,
  operators: Record<string, number>,
  request: OptimizationRequest,
): Raised {
  const wanted = opsetWanted(request, operators);
  if (wanted === undefined || own >= wanted.best) return { raise_to: null, notes: [] };
  const model = loadModel(path);
  try {
    raiseOpset(model, wanted.best);
    return {
      raise_to: wanted.best,
      notes: [
        `The model's operator set was upgraded from ${own} to ${wanted.best}, as this method requires.`,
      ],
    };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    if (own >= wanted.least) return { raise_to: null, notes: [error.message] };
    throw new ModelError(
      `${request.strategy} needs opset ${wanted.least} or higher; the model has ${own}. ${error.message} Export it with that opset, or use weight_only.`,
    );
  } finally {
    model.external.close();
  }
}

/**
 * Refuse a request that the structure of the model rules out, before anything is transformed. Return notes for the
 * owner.
 * @throws ModelError for names that the model does not have, and for an operator set that is too old
 */
function requirePossible(
  path: string,
  model: Model,
  operators: Record<string, number>,
  request: OptimizationRequest,
): Raised {
  const absent = requireKnown(model.graph, request.exclude);
  const { raise_to, notes } = raisedFor(path, model.opset(), operators, request);
  const already = request.operation === 'quantize' ? alreadyQuantized(model.graph).trim() : '';
  return {
    raise_to,
    notes: [
      ...(already === ''
        ? []
        : [`${already} Of those parts only weights that a Cast or DequantizeLinear makes may change.`]),
      ...absent.map((operator) => `exclude names ${operator}, but the model has no such operator.`),
      ...notes,
    ],
  };
}

function countOperators(model: Model): Record<string, number> {
  const counts = new Map<string, number>();
  for (const graph of model.graph.all()) {
    for (const node of graph.nodes) {
      const name = operatorName(node);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function opsetsOf({ proto }: Model): Record<string, number> {
  const entries = proto.opsetImport.map(({ domain, version }): [string, number] => {
    if (version < 1n || version > 2n ** 31n) {
      throw new ModelError(`The model declares version ${version} of the operator set "${domain}".`);
    }
    return [domain || 'ai.onnx', Number(version)];
  });
  return Object.fromEntries(entries);
}

/** Value kinds of onnx.proto that sessions do not return. */
const otherOutputs: ReadonlySet<string | undefined> = new Set(['sequenceType', 'mapType', 'optionalType']);

/** Check a model's structure and whether the request is possible. Count the model's parts. */
export function readStage({ model: path, shapes, request }: TaskOf<'read'>): StageAnswer<'read'> {
  const model = loadModel(path);
  try {
    checkAttributes(model);
    const operators = countOperators(model);
    const { raise_to, notes } =
      request === undefined
        ? { raise_to: null, notes: [] }
        : requirePossible(path, model, operators, parseRequest(request));
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
      operators,
      opsets: opsetsOf(model),
      files: [path, ...model.external.locations.map((location) => join(dirname(path), location))],
      needs_runtime: runtimeNeeded(model),
      raise_to,
      notes,
    };
  } finally {
    model.external.close();
  }
}
