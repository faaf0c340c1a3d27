import { describe, expect, test } from 'vitest';
import { ConfigSyntaxError } from '../../../shared/config/config-syntax-error.ts';
import { configFormat, parseConfigFile } from '../../../shared/config/parse-config-file.ts';

const dataOf = (name: string, text: string) => JSON.parse(JSON.stringify(parseConfigFile(name, text).data));

describe('the format', () => {
  test.each([
    ['train.yaml', 'yaml'],
    ['train.yml', 'yaml'],
    ['a.b.json', 'json'],
    ['Cargo.TOML', 'toml'],
    ['train', undefined],
    ['yaml', undefined],
    ['train.yaml.bak', undefined],
    ['train.', undefined],
  ])('of %s is %s', (name, format) => {
    expect(configFormat(name)).toBe(format);
  });

  test('is never guessed: other names are refused and the allowed ones said', () => {
    expect(() => parseConfigFile('train.cfg', '{}')).toThrow(
      'must end in .yaml, .yml, .json or .toml, unlike "train.cfg"',
    );
  });
});

describe('what every format refuses', () => {
  test.each([
    ['a.json', ''],
    ['a.yaml', ' \r\n\t'],
    ['a.toml', ''],
    ['a.json', '\ufeff'],
    ['a.yaml', '# only a comment'],
    ['a.yaml', '---\n...\n'],
    ['a.yaml', 'null'],
    ['a.toml', '# only a comment'],
  ])('%s of %j: empty', (name, text) => {
    expect(() => parseConfigFile(name, text)).toThrow('the file is empty');
  });

  test.each([
    ['a.json', '"text"', 'a string'],
    ['a.json', 'null', 'null'],
    ['a.yaml', '42', 'a number'],
    ['a.yaml', 'true', 'a boolean'],
  ])('%s of %j: not a mapping or a list', (name, text, what) => {
    expect(() => parseConfigFile(name, text)).toThrow(`must be a mapping or a list, not ${what}`);
  });

  test.each([
    ['a.json', `${'['.repeat(101)}${']'.repeat(101)}`],
    ['a.json', '['.repeat(200_000)],
    ['a.yaml', '['.repeat(200_000)],
    ['a.yaml', '- '.repeat(100_000)],
    ['a.yaml', '? '.repeat(100_000)],
    ['a.yaml', `${'['.repeat(101)}${']'.repeat(101)}`],
    ['a.toml', `a = ${'['.repeat(101)}${']'.repeat(101)}`],
    ['a.toml', `a${'.a'.repeat(100_000)} = 1`],
    ['a.toml', `[${'a.'.repeat(100)}b]\nc = 1`],
  ])('%s: nesting beyond 100 levels (%#)', (name, text) => {
    expect(() => parseConfigFile(name, text)).toThrow(ConfigSyntaxError);
    expect(() => parseConfigFile(name, text)).toThrow(/deeper than 100|excessively nested/);
  });

  test.each([
    ['a.json', '{"lr": 1,\n "lr": 2}', 2, 2],
    ['a.yaml', 'lr: 1\nlr: 2', 2, 1],
    ['a.yaml', 'a: {lr: 1, "lr": 2}', 1, 12],
    ['a.yaml', '1: a\n"1": b', 2, 1],
    ['a.toml', 'lr = 1\nlr = 2', 2, 1],
  ])('%s of %j: repeated keys, with the place', (name, text, line, column) => {
    expect(fault(name, text)).toMatchObject({ position: { line, column } });
  });

  test.each([
    ['a.json', `{"a": ${'x'.repeat(10_000)}}`],
    ['a.yaml', `a: "${'x'.repeat(10_000)}`],
    ['a.yaml', `a: 'x' ${'x'.repeat(10_000)}`],
    ['a.toml', `a = "b" ${'x'.repeat(10_000)}`],
    [`${'x'.repeat(10_000)}.cfg`, ''],
  ])('with a message of one short line, not the text (%#)', (name, text) => {
    expect(fault(name, text).message).toMatch(/^[^\n]{10,300}$/);
  });
});

describe('100 levels are fine', () => {
  test.each([
    ['a.json', `${'['.repeat(100)}${']'.repeat(100)}`],
    ['a.yaml', `${'['.repeat(100)}${']'.repeat(100)}`],
    ['a.yaml', `${'- '.repeat(99)}- x`],
    ['a.yaml', `${Array.from({ length: 100 }, (_, level) => `${' '.repeat(level)}a:`).join('\n')} 1`],
    ['a.toml', `a${'.a'.repeat(99)} = 1`],
  ])('in %s (%#)', (name, text) => {
    expect(JSON.stringify(dataOf(name, text)).match(/[[{]/g)).toHaveLength(100);
  });
});

describe('what every format keeps', () => {
  test.each([
    ['a.json', '{"__proto__": {"polluted": 1}, "constructor": {"prototype": 2}, "toString": 3}'],
    ['a.yaml', '__proto__: {polluted: 1}\nconstructor: {prototype: 2}\ntoString: 3'],
    ['a.toml', 'toString = 3\n[__proto__]\npolluted = 1\n[constructor]\nprototype = 2'],
  ])('%s: keys that look like prototypes are plain data', (name, text) => {
    const { data } = parseConfigFile(name, text);
    expect(Object.getPrototypeOf(data)).toBeNull();
    expect(JSON.stringify(data)).toContain('"__proto__":{"polluted":1}');
    expect(JSON.stringify(data)).toContain('"constructor":{"prototype":2}');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test.each([
    [
      'a.json',
      '[12345678901234567890, -9007199254740993, 9007199254740992, 100000000000000000000, 1e400, 0.5]',
      ['12345678901234567890', '-9007199254740993', 9007199254740992, 1e20, 'Infinity', 0.5],
    ],
    [
      'a.yaml',
      '[12345678901234567890, 0xFFFFFFFFFFFFFFFF, 9007199254740991, .inf, -.inf, .nan, 1e-3]',
      [
        '12345678901234567890',
        '18446744073709551615',
        9007199254740991,
        'Infinity',
        '-Infinity',
        'NaN',
        0.001,
      ],
    ],
    [
      'a.toml',
      'a = [9223372036854775807, inf, -inf, nan, 1e-3]',
      { a: ['9223372036854775807', 'Infinity', '-Infinity', 'NaN', 0.001] },
    ],
  ])('%s: numbers that JSON cannot carry, as texts', (name, text, expected) => {
    expect(dataOf(name, text)).toEqual(expected);
  });

  test.each([
    ['a.json', '{"a": "x",\r\n "b": [1]}\r\n'],
    ['a.yaml', 'a: x\r\nb:\r\n  - 1\r\n'],
    ['a.toml', 'a = "x"\r\nb = [1]\r\n'],
  ])('%s: a byte order mark and CRLF change nothing', (name, text) => {
    expect(dataOf(name, `\ufeff${text}`)).toEqual({ a: 'x', b: [1] });
  });

  test.each([
    ['a.json', `{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":${i}`).join()}}`],
    ['a.yaml', Array.from({ length: 20_000 }, (_, i) => `k${i}: ${i}`).join('\n')],
    ['a.toml', Array.from({ length: 20_000 }, (_, i) => `k${i} = ${i}`).join('\n')],
  ])('%s: 20,000 keys', (name, text) => {
    expect(Object.keys(parseConfigFile(name, text).data)).toHaveLength(20_000);
  });
});

function fault(name: string, text: string): ConfigSyntaxError {
  try {
    parseConfigFile(name, text);
  } catch (error) {
    if (error instanceof ConfigSyntaxError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}
