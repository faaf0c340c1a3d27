import { Worker } from 'node:worker_threads';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as readConfigGraph } from '../../../functions/projects/configs/read-config-graph.endpoint.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { newProject } from './new-project.ts';

const pipeline = `stages:
  prepare: {cmd: python prepare.py, deps: [data.csv], outs: [clean.csv]}
  train: {cmd: python train.py, deps: [clean.csv], outs: [model.onnx]}
`;

describe('graph of a configuration', () => {
  let service: TestService;
  let owner: TestUser;
  let viewer: TestUser;
  let project_id: string;

  beforeAll(async () => {
    service = await testService();
    [owner, viewer] = await Promise.all([service.user('developer'), service.user('viewer')]);
    project_id = await newProject(service, owner);
    await put('dvc.yaml', pipeline);
  });

  const put = (config_id: string, body: string) =>
    service.call(putConfig, { path: { project_id, config_id }, body, as: owner });
  const read = (config_id: string, headers: Record<string, string> = {}) =>
    service.call(readConfigGraph, { path: { project_id, config_id }, headers, as: viewer });

  test('is JSON unless something else is asked for', async () => {
    for (const headers of [
      {},
      { Accept: '*/*' },
      { Accept: 'application/pdf' },
      { Accept: 'application/json' },
    ]) {
      const { status, json, headers: answered } = await read('dvc.yaml', headers);
      expect(status).toBe(200);
      expect(answered['content-type']).toBe('application/json');
      expect(answered['vary']).toBe('Accept');
      expect(json).toMatchObject({ config_id: 'dvc.yaml', kind: 'pipeline', cycles: [] });
      const named = new Set(json.nodes.map(({ id }: { id: string }) => id));
      expect(json.edges.length).toBeGreaterThan(0);
      for (const { source, target } of json.edges) expect(named.has(source) && named.has(target)).toBe(true);
    }
  });

  test.each([
    ['image/svg+xml', /^<svg [\s\S]*prepare[\s\S]*<\/svg>\s*$/],
    ['text/vnd.mermaid', /^(?:---[\s\S]*?---\s*)?flowchart[\s\S]*prepare/m],
    ['text/vnd.graphviz', /digraph[\s\S]*prepare/],
  ])('as %s', async (mediaType, pattern) => {
    const answer = await read('dvc.yaml', { Accept: `${mediaType}, application/json;q=0.5` });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe(`${mediaType}; charset=utf-8`);
    expect(answer.text).toMatch(pattern);
    expect(answer.headers['etag']).toMatch(/^"1-/);
    const again = await read('dvc.yaml', { Accept: mediaType, 'If-None-Match': answer.headers['etag']! });
    expect(again.status).toBe(304);
    expect(again.headers['vary']).toBe(answer.headers['vary']);
    expect((await read('dvc.yaml', { 'If-None-Match': answer.headers['etag']! })).status).toBe(200);
  });

  test.each([
    [
      'model.json',
      '{"layers": [{"type": "Conv2d", "filters": 8}, {"type": "Linear", "units": 10}]}',
      'layers',
    ],
    ['plain.toml', 'rate = 0.1\n[data]\npath = "x.csv"\n', 'structure'],
  ])('%s is read as %s', async (config_id, text, kind) => {
    await put(config_id, text);
    expect((await read(config_id)).json).toMatchObject({ config_id, kind });
  });

  test('whatever a configuration holds, a drawing is no script', async () => {
    await put(
      'evil.yaml',
      'stages:\n  "<script>alert(1)</script>": {cmd: "]]><x onload=\'y\'>", deps: ["&lt;\\u0000"]}\n',
    );
    const { text, headers } = await read('evil.yaml', { Accept: 'image/svg+xml' });
    expect(text).not.toMatch(/<script|<x |\0/);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
  });

  test('an unknown configuration is 404', async () => {
    expect((await read('nowhere.yaml')).status).toBe(404);
    expect((await read('no id!')).status).toBe(400);
  });

  test('a dense one is drawn beside the event loop, once for all who ask', async () => {
    const layers = [0, 1, 2].map((layer) =>
      Array.from({ length: 30 }, (_, index) => {
        const deps = [1, 2, 3, 4, 5, 6].map(
          (step) => `s${(layer - 1) * 30 + ((index * 7 + step * 13) % 30)}`,
        );
        return `  s${layer * 30 + index}: {deps: [${layer === 0 ? '' : deps.join(', ')}]}\n`;
      }).join(''),
    );
    await put('dense.yaml', `stages:\n${layers.join('')}`);
    const posted = vi.spyOn(Worker.prototype, 'postMessage');
    onTestFinished(() => posted.mockRestore());
    const answers = await Promise.all([1, 2, 3].map(() => read('dense.yaml', { Accept: 'image/svg+xml' })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers[0]?.text).toContain('</svg>');
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(posted).toHaveBeenCalledTimes(1);
  });
});
