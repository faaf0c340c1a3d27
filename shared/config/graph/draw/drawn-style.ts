import { colours as drawingColours } from '../../../drawing/drawing-style.ts';
import type { ConfigGraphKind } from '../config-graph.ts';

/** Colours of one kind of node. Text on the fill has a contrast of at least 7 to 1. */
export interface NodeStyle {
  name: string;
  fill: string;
  stroke: string;
}

export const colours = {
  text: drawingColours.text,
  faintText: drawingColours.faintText,
  edge: '#667180',
  reference: '#7a3fb8',
  cycle: '#c4211a',
  background: '#ffffff',
} as const;

const blue = { fill: '#e3effd', stroke: '#2f6fbd' };

const green = { fill: '#e2f5e6', stroke: '#2d8449' };

const amber = { fill: '#fdf2d5', stroke: '#a87412' };

const violet = { fill: '#f0e8fb', stroke: '#7a3fb8' };

const teal = { fill: '#dcf4f3', stroke: '#1f7f7c' };

const rose = { fill: '#fce8ee', stroke: '#b83764' };

const orange = { fill: '#fdebdf', stroke: '#b7561a' };

const grey = { fill: '#e8ebef', stroke: '#5d6875' };

const structureSorts: ReadonlyMap<string, NodeStyle> = new Map([
  ['mapping', { name: 'mapping', ...blue }],
  ['list', { name: 'list', ...teal }],
  ['string', { name: 'text', ...green }],
  ['number', { name: 'number', ...amber }],
  ['boolean', { name: 'boolean', ...rose }],
  ['null', { name: 'null', ...grey }],
  ['reference', { name: 'reference', ...violet }],
  ['alias', { name: 'alias', ...orange }],
]);

const sand = { fill: '#f3eee2', stroke: '#857046' };

const layerSorts: readonly (readonly [RegExp, NodeStyle])[] = [
  [/input|output|logits|detect|^head/i, { name: 'input, output', ...grey }],
  [/pool|upsampl|resize/i, { name: 'pooling', ...teal }],
  [/conv|c3|c2f|bottleneck|focus/i, { name: 'convolution', ...blue }],
  [/norm/i, { name: 'normalization', ...amber }],
  [/dropout|regulari/i, { name: 'regularization', ...sand }],
  [/lstm|gru|rnn|attention|transformer|embed/i, { name: 'sequence', ...violet }],
  [/relu|elu|activation|softmax|sigmoid|tanh|swish/i, { name: 'activation', ...rose }],
  [/^add|concat|merge|^multiply|^average$|shortcut|^sum/i, { name: 'merge', ...orange }],
  [/dense|linear|fc|fully|mlp/i, { name: 'dense', ...green }],
];

const white = { fill: '#ffffff', stroke: '#7b8794' };

/** Choose the colours of a node by its type. */
export function styleOf(kind: ConfigGraphKind, type: string): NodeStyle {
  if (kind === 'pipeline') return { name: type, ...blue };
  if (kind === 'structure') return structureSorts.get(type) ?? { name: type, ...grey };
  return layerSorts.find(([pattern]) => pattern.test(type))?.[1] ?? { name: 'other', ...white };
}
