import { describe, expect, test } from 'vitest';
import { OverrideError, overrideConfig } from '../../../shared/config/override-config.ts';

describe('single values of a configuration are replaced', () => {
  test('in YAML, with its comments, anchors and order', () => {
    const text =
      '# head\nlr: 1e-3 # rate\nmodel: &m\n  name: "a"\n  layers: [1, 2]\nsame: *m\nbig: 12345678901234567890\n';
    const overrides = { lr: 0.5, 'model.name': 'true', 'model.layers.0': null };
    expect(overrideConfig('a.yaml', text, overrides)).toBe(
      '# head\nlr: 0.5 # rate\nmodel: &m\n  name: "true"\n  layers: [null, 2]\nsame: *m\nbig: 12345678901234567890\n',
    );
  });

  test('in JSON and TOML', () => {
    expect(overrideConfig('a.json', '{"a":{"b":[1,{"c":"x"}]}}', { 'a.b.1.c': false })).toBe(
      '{"a":{"b":[1,{"c":false}]}}',
    );
    expect(overrideConfig('a.toml', 'lr = 0.1\n[model]\nname = "a"\n', { lr: 0.2, 'model.name': 'b' })).toBe(
      'lr = 0.2\n[model]\nname = "b"\n',
    );
  });

  test.each([
    ['a.yaml', 'a: 1\nb: {c: 1}\nd: &x [1]\ne: *x\n', ['b', 'z', 'a.b', 'e.0', 'b.z']],
    ['a.json', '{"a":1,"b":{"c":1}}', ['b', 'z', 'a.b', '__proto__', '__proto__.x', 'constructor.name']],
    ['a.toml', 'a = 1\n[b]\nc = 1\n', ['b', 'z', 'a.b', 'toString']],
  ])('and all others refused at once: %s', (name, text, paths) => {
    const overrides = Object.fromEntries(paths.map((path) => [path, 1]));
    let error: unknown;
    try {
      overrideConfig(name, text, { ...overrides });
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(OverrideError);
    const { message } = error as OverrideError;
    for (const path of Object.keys(overrides)) expect(message).toContain(JSON.stringify(path));
    expect(Object.hasOwn(Object.prototype, 'x')).toBe(false);
  });
});
