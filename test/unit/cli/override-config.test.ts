import { describe, expect, test } from 'vitest';
import { overrideConfig, parseOverride } from '../../../cli/run/override-config.ts';

const overridden = (name: string, content: string, ...texts: string[]) =>
  overrideConfig(name, content, texts.map(parseOverride));

describe('overrideConfig', () => {
  test('keeps the comments and the order of YAML', () => {
    const content = '# of the experiment\nepochs: 5 # few\noptimizer:\n  lr: 0.1\n';
    expect(overridden('train.yaml', content, 'optimizer.lr=1e-3', 'optimizer.name=adam')).toBe(
      '# of the experiment\nepochs: 5 # few\noptimizer:\n  lr: 1.0e-3\n  name: adam\n',
    );
  });

  test.each([
    { name: 'a.json', content: '{"lr": 1}', expected: '{"lr": 0.5, "once": true}' },
    { name: 'a.toml', content: 'lr = 1\n', expected: 'lr = 0.5\nonce = true\n' },
    { name: 'a.yaml', content: '', expected: 'lr: 0.5\nonce: true\n' },
    { name: 'a.yaml', content: '{}\n', expected: 'lr: 0.5\nonce: true\n' },
  ])('sets values of $name', ({ name, content, expected }) => {
    expect(overridden(name, content, 'lr=0.5', 'once=true').trim()).toBe(expected.trim());
  });

  test('leaves a file as it is where nothing is set', () => {
    expect(overridden('a.yaml', 'a:   [1,\n 2]')).toBe('a:   [1,\n 2]');
  });

  test.each([
    { name: 'a.json', content: '{', set: 'a=1', fault: /^a\.json: / },
    { name: 'a.json', content: '[]', set: 'a=1', fault: 'a.json: "a": it has no item "a"' },
    { name: 'a.json', content: '{"a": 1}', set: 'a.b=1', fault: 'a.json: "a.b": a is not a mapping' },
    { name: 'a.yaml', content: 'a: 1', set: 'a.b=1', fault: /^a\.yaml: / },
    { name: 'a.toml', content: '=', set: 'a=1', fault: /^a\.toml: / },
  ])('refuses $set in "$content"', ({ name, content, set, fault }) => {
    expect(() => overridden(name, content, set)).toThrow(fault);
  });
});

test.each(['lr', '=1', '.a=1', 'a..b=1', '__proto__.a=1'])('parseOverride refuses %s', (text) => {
  expect(() => parseOverride(text)).toThrow();
});
