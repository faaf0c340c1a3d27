import { expect, test } from 'vitest';
import { parseSwept } from '../../../cli/sweeps/swept-value.ts';
import { NumberLiteral } from '../../../shared/config/set-values/typed-value.ts';

test.each([
  ['lr=1e-4..1e-1:log', { name: 'lr', parameter: { min: 0.0001, max: 0.1, scale: 'log' } }],
  ['batch=16..128:16', { name: 'batch', parameter: { min: 16, max: 128, step: 16 } }],
  ['a.b=-1..1', { name: 'a.b', parameter: { min: -1, max: 1 } }],
  ['n=1..100:log:1', { name: 'n', parameter: { min: 1, max: 100, scale: 'log', step: 1 } }],
  ['--lr=.1,1e-3', { name: '--lr', parameter: { values: [0.1, 0.001] } }],
  ['model=small,big,3,true', { name: 'model', parameter: { values: ['small', 'big', 3, true] } }],
  ['epochs=5', { path: ['epochs'], value: new NumberLiteral('5', 5) }],
  ['layers=[8, 8]', { path: ['layers'], value: [new NumberLiteral('8', 8), new NumberLiteral('8', 8)] }],
  ['path=../data', { path: ['path'], value: '../data' }],
])('-S %s of a sweep is a range, a list or one value', (text, expected) => {
  expect(parseSwept(text)).toEqual(expected);
});

test.each([
  ['lr=1..2:cubic', /only log, linear or a step/],
  ['lr=1..', /two numbers/],
  ['lr=1e-4..high', /two numbers/],
  ['lr=1,[2]', /separated by commas/],
  ['=1..2', /NAME=VALUE/],
  ['seed=1..9007199254740993', /not 9007199254740993/],
  ['seed=1,9007199254740993', /not 9007199254740993/],
])('-S %s of a sweep is refused', (text, fault) => {
  expect(() => parseSwept(text)).toThrow(fault);
});
