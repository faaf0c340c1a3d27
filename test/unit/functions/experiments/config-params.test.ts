import { describe, expect, test } from 'vitest';
import { parseConfigFile } from '../../../../shared/config/parse-config-file.ts';
import { configParams } from '../../../../shared/experiments/config-params.ts';

const ofYaml = (text: string) => configParams(parseConfigFile('train.yaml', text).data);

describe('the params of a configuration', () => {
  test('are its scalars, by their paths', () => {
    const params = ofYaml(
      'lr: 0.01\nmodel:\n  layers: [64, 32]\n  bias: false\nname: x\nnothing: null\nempty: {}\n',
    );
    expect(params).toEqual({
      lr: '0.01',
      'model.layers.0': '64',
      'model.layers.1': '32',
      'model.bias': 'false',
      name: 'x',
      nothing: '',
    });
  });

  test('are those of its items where it is a list', () => {
    expect(ofYaml('- 1\n- a: 2\n')).toEqual({ 0: '1', '1.a': '2' });
  });

  test('are the first 500', () => {
    const params = configParams(Object.fromEntries(Array.from({ length: 600 }, (_, n) => [`p${n}`, n])));
    expect(Object.keys(params)).toHaveLength(500);
    expect(params).toMatchObject({ p0: '0', p499: '499' });
  });

  test('leave out names and values that are too long for a param', () => {
    const params = configParams({ ['n'.repeat(251)]: 1, ['n'.repeat(250)]: 2, v: 'v'.repeat(6001), w: 3 });
    expect(params).toEqual({ ['n'.repeat(250)]: '2', w: '3' });
  });

  test('take 200,000 bytes at most, however often aliases repeat a long text', () => {
    const long = { text: 'x'.repeat(5000) };
    const params = configParams(Array.from({ length: 500 }, () => long));
    expect(Object.keys(params)).toHaveLength(39);
  });
});
