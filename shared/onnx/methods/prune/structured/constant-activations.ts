import { floatAttribute } from '../../../model/graph/attributes.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
const softplus = (x: number): number => Math.log1p(Math.exp(x));
const hardSigmoid = (x: number, slope: number, offset: number): number =>
  Math.min(1, Math.max(0, slope * x + offset));

/** The result of each activation on a constant, as the ONNX operators of these names define it with their defaults. */
export const constantActivations: Readonly<Record<string, (x: number, node: NodeProto) => number>> = {
  Relu: (x) => Math.max(0, x),
  LeakyRelu: (x, node) => (x < 0 ? floatAttribute(node, 'alpha', 0.01) * x : x),
  Elu: (x, node) => (x < 0 ? floatAttribute(node, 'alpha', 1) * Math.expm1(x) : x),
  Selu: (x, node) =>
    floatAttribute(node, 'gamma', 1.0507009873554805) *
    (x > 0 ? x : floatAttribute(node, 'alpha', 1.6732632423543772) * Math.expm1(x)),
  Sigmoid: (x) => sigmoid(x),
  HardSigmoid: (x, node) =>
    hardSigmoid(x, floatAttribute(node, 'alpha', 0.2), floatAttribute(node, 'beta', 0.5)),
  HardSwish: (x) => x * hardSigmoid(x, 1 / 6, 0.5),
  Tanh: (x) => Math.tanh(x),
  Softplus: (x) => softplus(x),
  Softsign: (x) => x / (1 + Math.abs(x)),
  Mish: (x) => x * Math.tanh(softplus(x)),
  Exp: (x) => Math.exp(x),
  Abs: (x) => Math.abs(x),
  Neg: (x) => -x,
  Sqrt: (x) => Math.sqrt(x),
};
