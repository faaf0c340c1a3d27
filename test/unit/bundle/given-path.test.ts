import { describe, expect, test } from 'vitest';
import { givenPath } from '../../../shared/bundle/given-path.ts';

const script = { npm_package_json: '/service/package.json', INIT_CWD: '/home/ada/models' };

describe('a path on a command line', () => {
  test('is resolved from where npm was called', () => {
    expect(givenPath('net.onnx', script, '/service')).toBe('/home/ada/models/net.onnx');
    expect(givenPath('../net.onnx', script, '/service')).toBe('/home/ada/net.onnx');
    expect(givenPath('/data/net.onnx', script, '/service')).toBe('/data/net.onnx');
  });

  test('is resolved from the folder of a program that no script runs', () => {
    expect(givenPath('net.onnx', {}, '/tmp')).toBe('/tmp/net.onnx');
    expect(givenPath('net.onnx', script, '/tmp')).toBe('/tmp/net.onnx');
  });
});
