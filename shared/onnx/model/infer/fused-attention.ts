import { intAttribute, intsAttribute } from '../graph/attributes.ts';
import type { Dim } from '../graph/value-info.ts';
import { isGiven, isKnown, productOf, type Rule, typed, type Value, withDim } from './value.ts';

/** Size of an axis; null if the size or the rank is unknown. */
const dimOf = (value: Value | undefined, axis: number): Dim => value?.dims?.at(axis) ?? null;
const quotient = (dim: Dim, by: number): Dim => (isKnown(dim) && by > 0 ? Math.floor(dim / by) : null);
const product = (a: Dim, b: Dim): Dim => (isKnown(a) && isKnown(b) ? a * b : null);
const sum = (a: Dim, b: Dim): Dim => (isKnown(a) && isKnown(b) ? a + b : null);

/** Keys or values of the earlier and the current tokens, concatenated along the axis. */
const extended = (past: Value | undefined, added: Dim, axis: number): Value | undefined =>
  past && { type: past.type, dims: withDim(past.dims, axis, sum(dimOf(past, axis), added)) };

/**
 * Attention with one input [batch, sequence, channels]. The weights of queries, keys and values are side by side.
 */
export const packedAttention =
  (past: number, typeOf: (inputs: readonly (Value | undefined)[]) => Value | undefined): Rule =>
  ({ node, inputs }) => {
    const [x, weight, bias] = inputs;
    const sizes = intsAttribute(node, 'qkv_hidden_sizes');
    const hidden =
      sizes?.[2] ?? quotient(bias?.dims === undefined ? dimOf(weight, 1) : productOf(bias.dims), 3);
    const type = typeOf(inputs)?.type;
    if (type === undefined) return undefined;
    const present = extended(inputs[past], dimOf(x, 1), 3);
    return [
      { type, dims: withDim(x?.dims, -1, hidden) },
      { type, dims: present?.dims },
    ];
  };

/**
 * MultiHeadAttention. Queries are [batch, sequence, channels], or packed with keys and values as [batch, sequence,
 * heads, 3, size]. Values are [batch, sequence, channels] or [batch, heads, sequence, size], or absent with packed
 * keys [batch, sequence, heads, 2, size].
 */
export const multiHeadAttention: Rule = (context) => {
  const [query, key, value, , , , pastKey, pastValue] = context.inputs;
  if (query?.dims === undefined) return typed(query, undefined);
  const heads = intAttribute(context.node, 'num_heads', 0);
  const isPacked = query.dims.length === 5;
  const four = value?.dims?.length === 4;
  const hidden = isPacked
    ? product(dimOf(query, 2), dimOf(query, 4))
    : !isGiven(context, 2)
      ? dimOf(query, 2)
      : four
        ? product(dimOf(value, 1), dimOf(value, 3))
        : dimOf(value, 2);
  const { type } = query;
  const dims = [dimOf(query, 0), dimOf(query, 1), hidden];
  // Keys with a head axis belong to another sequence, and all of it is used.
  const length = isPacked ? dimOf(query, 1) : key?.dims?.length === 4 ? dimOf(key, 2) : dimOf(key, 1);
  const fresh = (size: Dim): Value => ({
    type,
    dims: [dimOf(query, 0), heads, length, quotient(size, heads)],
  });
  return [
    { type, dims },
    isGiven(context, 6) ? extended(pastKey, length, 2) : fresh(isPacked ? hidden : dimOf(query, 2)),
    isGiven(context, 7) ? extended(pastValue, length, 2) : fresh(hidden),
  ];
};

/**
 * GroupQueryAttention: several query heads share keys and values. Queries, keys and values may also come packed in the
 * first input, the output of one matrix product.
 */
export const groupQueryAttention: Rule = (context) => {
  const [query, , , pastKey, pastValue] = context.inputs;
  if (query?.dims === undefined) return typed(query, undefined);
  const [heads, shared] = [
    intAttribute(context.node, 'num_heads', 0),
    intAttribute(context.node, 'kv_num_heads', 0),
  ];
  // A packed product has two additional heads for each shared one.
  const size = isGiven(context, 1) ? null : quotient(dimOf(query, 2), heads + 2 * shared);
  const dims = isGiven(context, 1) ? query.dims : withDim(query.dims, 2, product(size, heads));
  const present = (past: Value | undefined): Value | undefined =>
    past && { type: past.type, dims: withDim(past.dims, 2, null) };
  return [{ type: query.type, dims }, present(pastKey), present(pastValue)];
};

/**
 * ONNX's Attention (opset 23): [batch, heads, sequence, size], or three axes with the heads side by side on the
 * last one.
 */
export const onnxAttention: Rule = ({ node, inputs: [query, , value] }) => {
  if (query?.dims === undefined) return typed(query, undefined);
  if (query.dims.length === 4) return typed(query, [...query.dims.slice(0, 3), dimOf(value, 3)]);
  const size = quotient(dimOf(value, 2), intAttribute(node, 'kv_num_heads', 0));
  return typed(query, [
    dimOf(query, 0),
    dimOf(query, 1),
    product(size, intAttribute(node, 'q_num_heads', 0)),
  ]);
};
