import { expect, test } from 'vitest';
import { unservable } from '../../../shared/serving/protocol/signature.ts';

const tensor = (name: string, type: string) => ({ name, type, shape: [2] });

test('a model that cannot be served has its tensors named with the types that the protocol lacks', () => {
  const inputs = [tensor('x', 'float'), tensor('b', 'bfloat16')];

  expect(unservable({ inputs, outputs: [tensor('y', 'bfloat16')] })).toEqual([
    'the input "b" is of type bfloat16',
    'the output "y" is of type bfloat16',
  ]);
  expect(unservable({ inputs: [], outputs: [tensor('y', 'float'), tensor('s', 'sequence')] })).toEqual([]);
});
