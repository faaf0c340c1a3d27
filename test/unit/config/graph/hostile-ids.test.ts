import { expect, test } from 'vitest';
import { buildConfigGraph } from '../../../../shared/config/graph/build-config-graph.ts';
import { renderSvg } from '../../../../shared/config/graph/draw/render-svg.ts';
import { parseConfigFile } from '../../../../shared/config/parse-config-file.ts';
import { corpus } from '../../../support/injection/corpus.ts';
import { sampled } from '../../../support/samples.ts';

const texts = corpus({ user_id: 'u', username: 'n', project_id: 'p' });

const drawnTexts = sampled(
  texts.filter(({ length }) => length < 10_000),
  4,
);

const documents = {
  structure: (id: string) => ({ [id]: id, list: [{ [id]: [id] }] }),
  pipeline: (id: string) => ({ stages: { [id]: { cmd: id, deps: [id] }, b: { deps: [id] } } }),
  layers: (id: string) => ({
    layers: [
      { name: 'first', type: id },
      { name: id, type: id, inputs: ['first', id] },
    ],
  }),
};

test.each(Object.entries(documents))('a %s may have any ids without harm to the process', (_, document) => {
  const before = Object.getOwnPropertyNames(Object.prototype);
  let drawn = 0;
  for (const text of drawnTexts) {
    const parsed = parseConfigFile('a.json', JSON.stringify(document(text)));
    const svg = renderSvg(buildConfigGraph('a.json', parsed));
    if (/<(script|img|foreignObject|!)/i.test(svg)) throw new Error(svg);
    drawn += 1;
  }
  expect(drawn).toBeGreaterThan(500 / 4);
  expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
});
