import { describe, expect, test } from 'vitest';
import { setValues } from '../../../shared/config/set-values/set-values.ts';
import { typedValue } from '../../../shared/config/set-values/typed-value.ts';

/** Set values as `-S NAME=VALUE` does. */
const set = (name: string, text: string, ...typed: string[]): string =>
  setValues(
    name,
    text,
    typed.map((one) => {
      const at = one.indexOf('=');
      return { path: one.slice(0, at).split('.'), value: typedValue(one.slice(at + 1)) };
    }),
  );

describe('setValues changes only the characters of the value', () => {
  const yaml =
    '# head\r\nlr: &rate 1.0e-4  # rate\r\nold: *rate\r\nid: 12345678901234567890\r\ncode: 007\r\nf: 5.\r\nopt:   {name: adam , eps: 1.0e-08}\r\nlist:\r\n    - 1.0\r\n    -   {a: 1}\r\ntext: |\r\n  two\r\n  lines\r\nempty:\r\ntagged: !!float 1\r\n';

  test.each([
    ['lr=1e-7', 'lr: &rate 1.0e-4', 'lr: &rate 1.0e-7'],
    ['old=3', 'old: *rate', 'old: 3'],
    ['id=12345678901234567891', '4567890\r', '4567891\r'],
    ['f=-0.0', 'f: 5.', 'f: -0.0'],
    ['opt.name=sgd', 'adam ,', 'sgd ,'],
    ['opt.eps=1', '1.0e-08', '1'],
    ['opt.beta=0.9', '1.0e-08}', '1.0e-08, beta: 0.9}'],
    ['list.0=2.0', '- 1.0', '- 2.0'],
    ['list.1.a=x: y', '{a: 1}', '{a: "x: y"}'],
    ['list=[1, 1e21, 0x10]', '\r\n    - 1.0\r\n    -   {a: 1}\r\n', ' [1, 1.0e+21, 16]\r\n'],
    ['list.1=2', '  {a: 1}', '  2'],
    ['text=one', '|\r\n  two\r\n  lines\r\n', 'one\r\n'],
    ['empty=1:30', 'empty:', 'empty: "1:30"'],
    ['tagged=2', '!!float 1', '!!float 2'],
    ['tagged=[]', '!!float 1', '[]'],
    ['new.lr=1.0', '!!float 1\r\n', '!!float 1\r\nnew:\r\n  lr: 1.0\r\n'],
  ])('of YAML: %s', (typed, before, after) => {
    expect(yaml).toContain(before);
    expect(set('a.yaml', yaml, typed)).toBe(yaml.replace(before, after));
  });

  const json = '{\n\t"lr": 1.0e-4, "id": 12345678901234567890,\n\t"a": {"b" : [1.0, {"c":2}]},\n\t"e": {}\n}';

  test.each([
    ['lr=1e-7', '1.0e-4', '1.0e-7'],
    ['id=12345678901234567891', '4567890,', '4567891,'],
    ['a.b.0=#ff0000', '1.0,', '"#ff0000",'],
    ['a.b.1.c={"d": 1.0}', '"c":2', '"c":{"d": 1.0}'],
    ['a.x=null', '{"c":2}]', '{"c":2}], "x": null'],
    ['e.x.y=1', '"e": {}', '"e": {"x": {"y": 1}}'],
    ['z=1', '"e": {}', '"e": {},\n\t"z": 1'],
  ])('of JSON: %s', (typed, before, after) => {
    expect(set('a.json', json, typed)).toBe(json.replace(before, after));
  });

  const toml =
    "# head\nlr = 1.0e-4 # rate\nid = 9007199254740993\na.b = [1.0, { c = 2 }]\n\n[opt] # of it\n  name = 'adam' # why\n\n[[layer]]\nunits = 1_000\n[[layer]]\nunits = 2\n[x.y]\nz = 1\n";

  test.each([
    ['lr=1e-7', '1.0e-4', '1.0e-7'],
    ['id=9007199254740995', '740993', '740995'],
    ['a.b.1.c=x', 'c = 2', 'c = "x"'],
    ['a.b.1.d=1', 'c = 2 ', 'c = 2, d = 1 '],
    ['opt.name=sgd', "'adam'", '"sgd"'],
    ['opt.lr=.5', "'adam' # why\n", "'adam' # why\n  lr = 0.5\n"],
    ['layer.1.units=3', 'units = 2', 'units = 3'],
    ['epochs=3', '{ c = 2 }]\n', '{ c = 2 }]\nepochs = 3\n'],
    ['new.deep.lr=1', '{ c = 2 }]\n', '{ c = 2 }]\nnew.deep.lr = 1\n'],
    ['a.c=1', '{ c = 2 }]\n', '{ c = 2 }]\na.c = 1\n'],
    ['x.k=1', 'z = 1\n', 'z = 1\n\n[x]\nk = 1\n'],
  ])('of TOML: %s', (typed, before, after) => {
    expect(set('a.toml', toml, typed)).toBe(toml.replace(before, after));
  });

  test('several at once, also within what another adds, and the last of one name', () => {
    expect(set('a.yaml', 'a: 1\n', 'o.x=1', 'a=2', 'o.z=2', 'a=3')).toBe('a: 3\no:\n  x: 1\n  z: 2\n');
    expect(set('a.toml', 'a = 1\n', 'o.x.w=1', 'o.x.z=2')).toBe('a = 1\no.x.w = 1\no.x.z = 2\n');
  });

  test('and keeps a float of the file a float', () => {
    const changes = [{ path: ['lr'], value: 1 }];
    expect(setValues('a.yaml', 'lr: 0.5\n', changes)).toBe('lr: 1.0\n');
    expect(setValues('a.toml', 'lr = 5e-1\n', changes)).toBe('lr = 1.0\n');
    expect(setValues('a.json', '{"lr":1}', [{ path: ['lr'], value: -0 }])).toBe('{"lr":-0.0}');
    expect(setValues('a.yaml', 'lr: 1\n', [{ path: ['lr'], value: 1e21 }])).toBe('lr: 1.0e+21\n');
  });

  test.each([
    ['a.toml', 'a = 1\n', 'a=null', 'TOML has no null'],
    ['a.json', '{"a": 1}', 'a=.inf', 'JSON has no Infinity'],
    ['a.yaml', 'a: [1]\n', 'a.3=1', 'a has no item "3"'],
    ['a.toml', '[a]\nb = 1\n', 'a=1', 'it is a table'],
  ])('or refuses it: %s %s', (name, text, typed, fault) => {
    expect(() => set(name, text, typed)).toThrow(fault);
  });
});

test.each([
  ['#ff0000', '"#ff0000"'],
  ['run #3', '"run #3"'],
  ['&a', '"&a"'],
  ['!tag', '"!tag"'],
  ['@a', '"@a"'],
  ['%x', '"%x"'],
  ['*.csv', '"*.csv"'],
  ['a: b', '"a: b"'],
  ['- a', '"- a"'],
  ['| x', '"| x"'],
  ['1:30', '"1:30"'],
  ['2026-01-01', '"2026-01-01"'],
  ['1_000', '"1_000"'],
  ['0b11', '"0b11"'],
  ['yes', '"yes"'],
  ['=', '"="'],
  ['<<', '"<<"'],
  ['"5"', '"5"'],
  ["it's", '"it\'s"'],
  ['models/yolo11n.yaml', 'models/yolo11n.yaml'],
  ['s3://x', '"s3://x"'],
  ['\u0085\u2028', '"\\u0085\\u2028"'],
  ['0o17', '15'],
  ['0x1F', '31'],
  ['+5', '5'],
  ['007', '7'],
  ['5.', '5.0'],
  ['-.5e3', '-0.5e+3'],
  ['.NaN', '.nan'],
  ['True', 'true'],
  ['~', 'null'],
  ['', 'null'],
])('-S a=%s is written as %s', (typed, written) => {
  expect(set('a.yaml', 'a: 0\n', `a=${typed}`)).toBe(`a: ${written}\n`);
});

test.each(['[1, 2', '{a', '"x', "'x' y"])('a value that only begins as YAML is refused: %s', (text) => {
  expect(() => typedValue(text)).toThrow(`begins with ${text[0]}`);
});
