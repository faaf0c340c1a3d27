import { ModelError } from '../model-error.ts';
import { type InspectLimits, maxSummaryBytes } from './inspect-limits.ts';
import type { ModelSummary, TensorSummary } from './model-summary.ts';

/** Inputs with a default in a summary. Before IR version 4, every weight was one. */
const maxDefaulted = 100;

/** Collects a summary, within limits. */
export class SummaryDraft {
  readonly limits: InspectLimits;
  irVersion: number | undefined;
  producerName = '';
  producerVersion = '';
  readonly opsets = new Map<string, number>();
  readonly operators = new Map<string, number>();
  nodes = 0;
  initializers = 0;
  parameters = 0;
  initializerBytes = 0;
  functions = 0;
  hasControlFlow = false;
  hasGraph = false;
  inputs: TensorSummary[] = [];
  outputs: TensorSummary[] = [];
  /** Initializers of the main graph, which may be defaults of its inputs. */
  readonly initializerNames = new Set<string>();
  readonly #external = new Map<string, number>();
  #nameBytes = 0;
  #summaryBytes = 0;

  constructor(limits: InspectLimits) {
    this.limits = limits;
  }

  /** Count a name that is kept during the inspection. */
  keep(name: string): void {
    this.#nameBytes += name.length;
    if (this.#nameBytes > this.limits.nameBytes)
      throw new ModelError('The names in the model together are too long.');
  }

  /** Count text of the summary. */
  show(text: string): void {
    this.#summaryBytes += Buffer.byteLength(text) + 16;
    if (this.#summaryBytes > maxSummaryBytes) {
      throw new ModelError(
        'The names of inputs, outputs, operators and files of the model together are too long.',
      );
    }
  }

  countOperator(domain: string, operator: string): void {
    if (operator === '') throw new ModelError('The model has a node without an operator.');
    const name = domain === '' || domain === 'ai.onnx' ? operator : `${domain}.${operator}`;
    const before = this.operators.get(name);
    if (before === undefined) {
      this.show(name);
      if (this.operators.size === this.limits.operators)
        throw new ModelError(`The model has more than ${this.limits.operators} different operators.`);
    }
    this.operators.set(name, (before ?? 0) + 1);
    this.nodes += 1;
  }

  addOpset(domain: string, version: number): void {
    const name = domain === '' ? 'ai.onnx' : domain;
    this.show(name);
    if (this.opsets.size === this.limits.entries)
      throw new ModelError('The model imports too many operator sets.');
    this.opsets.set(name, version);
  }

  addTensor(side: 'inputs' | 'outputs', tensor: TensorSummary): void {
    this.show(tensor.name);
    for (const dim of tensor.shape ?? []) this.show(typeof dim === 'string' ? dim : '');
    if (this[side].length === this.limits.tensors)
      throw new ModelError(`The model has more than ${this.limits.tensors} ${side}.`);
    this[side].push(tensor);
  }

  /** Record that a tensor uses an external file up to byte `end`. */
  addExternal(location: string, end: number): void {
    const name = location.replace(/^\.\//, '');
    if (name === '__proto__' || !name.split('/').every((part) => this.limits.fileName.test(part))) {
      throw new ModelError(
        `The model keeps tensors in ${JSON.stringify(location.slice(0, 200))}. External data must be a file in the folder of the model or below it, with plain names.`,
      );
    }
    const before = this.#external.get(name);
    if (before === undefined) {
      const clash = ['model.onnx', ...this.#external.keys()].find(
        (other) => other.startsWith(`${name}/`) || name.startsWith(`${other}/`),
      );
      if (clash !== undefined)
        throw new ModelError(
          `The model keeps tensors in ${JSON.stringify(name)} and has a file ${JSON.stringify(clash)}: one name cannot be a file and a folder.`,
        );
      this.show(name);
      if (this.#external.size === this.limits.entries)
        throw new ModelError(`The model has more than ${this.limits.entries} external data files.`);
    }
    this.#external.set(name, Math.max(before ?? 0, end));
  }

  /** Return the summary. @throws ModelError if the bytes read are not a model */
  finish(): ModelSummary {
    if (!this.hasGraph || this.irVersion === undefined)
      throw new ModelError('This is not an ONNX model: it has no graph or no IR version.');
    if (this.opsets.size === 0 && this.irVersion >= 3)
      throw new ModelError('This is not an ONNX model: it declares no operator set.');
    const external = [...this.#external].sort(([one], [other]) => (one < other ? -1 : 1));
    const named = (all: Map<string, number>) =>
      Object.fromEntries([...all].filter(([name]) => name !== '__proto__'));
    return {
      ir_version: this.irVersion,
      producer: [this.producerName, this.producerVersion].filter((part) => part !== '').join(' '),
      opsets: named(this.opsets),
      inputs: this.inputs.filter(({ name }) => !this.initializerNames.has(name)),
      defaulted_inputs: this.inputs
        .map(({ name }) => name)
        .filter((name) => this.initializerNames.has(name))
        .slice(0, maxDefaulted),
      outputs: this.outputs,
      operators: named(this.operators),
      nodes: this.nodes,
      initializers: this.initializers,
      parameters: this.parameters,
      initializer_bytes: this.initializerBytes,
      external_files: external.map(([name]) => name),
      external_bytes: Object.fromEntries(external),
      has_control_flow: this.hasControlFlow,
      functions: this.functions,
    };
  }
}
