import { describe, expect, test } from 'vitest';
import { liftNumbers } from '../../../shared/serving/protocol/lift-numbers.ts';

const lifted = (text: string) => liftNumbers(Buffer.from(text), false);

/** Whether a number has up to 15 digits, and an exponent whose power of ten a double holds. */
function isShort(text: string): boolean {
  const [, whole = '', fraction = '', power = '0'] = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  return digits.length <= 15 && Math.abs(Number(power) - fraction.length) <= 22;
}

/** Numbers of many magnitudes, with a seed, as programs write them: short, with all digits, with an exponent. */
function written(count: number): string[] {
  let state = 7;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return Array.from({ length: count }, () => {
    const value = (random() - 0.5) * Math.PI * 10 ** Math.floor(random() * 40 - 20);
    const forms = [
      String(value),
      String(Math.fround(value)),
      value.toPrecision(1 + Math.floor(random() * 30)),
      value.toExponential(Math.floor(random() * 20)),
      (value * 1e6).toFixed(Math.floor(random() * 25)),
      String(Math.round(value * 100)),
    ];
    return forms[Math.floor(random() * forms.length)] ?? '0';
  }).filter((text) => !/^-?\d{16,}$/.test(text));
}

describe('lists of numbers in a request', () => {
  test('have the values of JSON.parse, rounded to float32 where all inputs have it', () => {
    const list = `[${[...written(20_000), '1e-40', '3.5e38', '-0', '0.0', '5E+2', '1e-60'].join(', ')}]`;

    const found = liftNumbers(Buffer.from(`{"data": ${list}}`), true);

    expect(found?.text).toBe('{"data": 0}');
    expect(found?.lists[0]).toEqual(Float32Array.from(JSON.parse(list)));
  });

  test('have the values of JSON.parse exactly where they are short', () => {
    const list = `[${[...written(20_000).filter(isShort), '-0', '123456789012345', '1e22', '1.5e-21'].join(',')}]`;

    expect(lifted(`{"data": ${list}}`)?.lists[0]).toEqual(Float64Array.from(JSON.parse(list)));
  });

  test.each([
    ['0.12345678901234567', false],
    ['1e23', false],
    // Next to the middle of two float32 values.
    ['1.000000059604644775390625', true],
    ['1e-100', true],
    ['1e100', true],
  ])('are left to JSON.parse with %s, whose rounding takes more', (number, isSingle) => {
    expect(liftNumbers(Buffer.from(`{"data": [1, ${number}]}`), isSingle)).toBeUndefined();
  });

  test('are flat, however they are nested and spaced', () => {
    const found = lifted(
      '{"inputs": [{"name": "data", "shape": [2, 2], "data" :\n[ [1, 2],\r\n\t[3 ,4] ]}, {"data": []}], "id": "é"}',
    );

    expect(found?.lists.map((list) => [...list])).toEqual([[1, 2, 3, 4], []]);
    expect(JSON.parse(found?.text ?? '')).toEqual({
      inputs: [{ name: 'data', shape: [2, 2], data: 0 }, { data: 1 }],
      id: 'é',
    });
  });

  test.each([
    ...[
      '01',
      '1.',
      '.5',
      '+1',
      '1,',
      ',1',
      '1 2',
      '-',
      '1e',
      '1e+',
      '"a"',
      'true',
      'null',
      'NaN',
      '[1',
      '[1],,[2]',
    ],
    ...['9007199254740993', '1_0', '0x1', '1.2.3', '--1', '{}'],
  ])('are left to JSON.parse with %s', (inner) => {
    expect(lifted(`{"data": [1, ${inner}]}`)).toBeUndefined();
  });

  test.each([
    '{"data": 5}',
    '{"inputs": []}',
    '{"a\\"b": 1, "data": [1]}',
    '{"data": [1',
    '{"data',
    '',
    '[1, 2]',
  ])('are left to JSON.parse in %s', (text) => {
    expect(lifted(text)).toBeUndefined();
  });

  test('may be nested no deeper than any JSON', () => {
    expect(lifted(`{"data": ${'['.repeat(101)}1${']'.repeat(101)}}`)).toBeUndefined();
  });
});
