import { BatchClientError } from './batch-client-error.ts';

/**
 * The node indexes of a `targetNodes` range (`a:b`, `a:`, `:b` or `a`, both ends included) of a job of `count` nodes.
 * @throws BatchClientError when it is no range, or reaches beyond the nodes
 */
export function nodesOf(range: string, count: number): number[] {
  const match = /^(\d{0,5})(:?)(\d{0,5})$/.exec(range);
  const [, from = '', colon = '', to = ''] = match ?? [];
  const first = from === '' ? 0 : Number(from);
  const last = colon === '' ? first : to === '' ? count - 1 : Number(to);
  if (match === null || range === '' || first > last || last >= count) {
    throw new BatchClientError(`targetNodes ${JSON.stringify(range)} is not a range of ${count} nodes`);
  }
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
