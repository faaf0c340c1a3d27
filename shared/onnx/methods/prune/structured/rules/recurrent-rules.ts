import { setAttribute, tensorAttribute } from '../../../../model/graph/attributes.ts';
import { elementCount, type Tensor } from '../../../../model/tensor/tensor.ts';
import { floatsOf, isFloatTensor } from '../../../../model/tensor/values.ts';
import type { Labels } from '../channels.ts';
import type { DependencyGraph } from '../dependency-graph.ts';
import type { ChannelRule, RuleContext } from './rule-context.ts';

/** Form of a recurrent operator. `states` are the input positions of its initial states. */
interface RecurrentForm {
  /** Gates, each with a row of W, R and both biases for every hidden unit. */
  gates: number;
  states: readonly number[];
  /** Input position of the peephole weights, and their gates. */
  peepholes?: { position: number; gates: number };
}

/** Labels of the rows of all gates, one gate after the other. */
const byGate = (labels: Labels, gates: number): Labels =>
  Int32Array.from({ length: labels.length * gates }, (_, at) => labels[at % labels.length] ?? 0);

/**
 * Rule of recurrent layers with hidden units H: W [directions, gates · H, I], R [directions, gates · H, H], B
 * [directions, 2 · gates · H], states [directions, batch, H]. A unit goes from both directions at once.
 */
const recurrent =
  ({ gates, states, peepholes }: RecurrentForm): ChannelRule =>
  (context) => {
    const { node, dependencies } = context;
    const [weights, hidden] = [dependencies.editable(node.input[1]), dependencies.editable(node.input[2])];
    const input = context.carried(0);
    if (context.isExcluded) return context.lock(`${context.label} was excluded`);
    if (weights?.dims.length !== 3 || hidden?.dims.length !== 3)
      return context.lock(`${context.label} has a weight that is not constant`);
    if (input !== undefined && (input.axis !== 2 || input.labels.length !== weights.dims[2]))
      return context.lockAsUnknown();
    if (context.carried(4) !== undefined) return context.lockAsUnknown();
    if (input !== undefined) context.cut(1, 2, input.labels, true);
    const labels = dependencies.channels.make(hidden.dims[2] ?? 0);
    const rows = byGate(labels, gates);
    context.cut(1, 1, rows, true);
    context.cut(2, 1, rows, true);
    context.cut(2, 2, labels, true);
    dependencies.producers.push({ node, labels });
    if (context.isGiven(3)) context.cut(3, 1, byGate(labels, 2 * gates));
    for (const position of states) followState(context, position, labels);
    if (peepholes !== undefined && context.isGiven(peepholes.position))
      context.cut(peepholes.position, 1, byGate(labels, peepholes.gates));
    dependencies.edits.push((remaining) => setAttribute(node, 'hidden_size', remaining.count(labels)));
    context.put(0, { axis: 3, labels });
    for (const output of [1, 2]) context.put(output, { axis: 2, labels });
  };

/** Follow an initial state [directions, batch, H]. States that are always zero are left out: they are the default. */
function followState(context: RuleContext, position: number, labels: Labels): void {
  if (!context.isGiven(position)) return;
  const { node, dependencies, label } = context;
  const { channels } = dependencies;
  const carried = context.carried(position);
  if (carried !== undefined) {
    if (carried.axis === 2 && carried.labels.length === labels.length)
      channels.tieAll(carried.labels, labels);
    else channels.lock([...labels, ...carried.labels], `${label} has an initial state of another form`);
    return;
  }
  if (isZero(dependencies, node.input[position] ?? ''))
    dependencies.edits.push((remaining) => {
      if (remaining.count(labels) < labels.length) node.input[position] = '';
    });
  else if (dependencies.constant(node.input[position]) !== undefined) context.cut(position, 2, labels);
  else channels.lock(labels, `${label} has an initial state that is computed or an input of the model`);
}

/** Operators whose result is zero if their first input is. */
const keepingZero: ReadonlySet<string> = new Set([
  ...['Expand', 'Tile', 'Identity', 'Cast', 'Slice', 'Split', 'Gather', 'Transpose'],
  ...['Unsqueeze', 'Squeeze', 'Reshape', 'Concat'],
]);

/** Maximum number of nodes between a constant and a state. */
const maxSteps = 8;

/** Whether a value is zero, whatever its shape: exporters make the first states of a batch so. */
function isZero(dependencies: DependencyGraph, name: string, steps = 0): boolean {
  const constant = dependencies.constant(name);
  if (constant !== undefined) return isZeroTensor(constant);
  const producer = dependencies.index.producer(name);
  if (producer === undefined || steps > maxSteps) return false;
  if (producer.opType === 'ConstantOfShape') {
    const value = tensorAttribute(producer, 'value', dependencies.model.external);
    return value === undefined || isZeroTensor(value);
  }
  if (!keepingZero.has(producer.opType)) return false;
  const data = producer.opType === 'Concat' ? producer.input : producer.input.slice(0, 1);
  return data.every((one) => isZero(dependencies, one, steps + 1));
}

/** Most values of a constant that is checked for zeros. */
const maxChecked = 2 ** 20;

const isZeroTensor = (tensor: Tensor): boolean =>
  isFloatTensor(tensor) &&
  elementCount(tensor.dims) <= maxChecked &&
  floatsOf(tensor).every((value) => value === 0);

/** Recurrent layers by operator, with the gates of ONNX: iofc of LSTM, zrh of GRU. */
export const recurrentRules: ReadonlyMap<string, ChannelRule> = new Map([
  ['LSTM', recurrent({ gates: 4, states: [5, 6], peepholes: { position: 7, gates: 3 } })],
  ['GRU', recurrent({ gates: 3, states: [5] })],
  ['RNN', recurrent({ gates: 1, states: [5] })],
]);
