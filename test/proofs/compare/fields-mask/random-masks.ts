import fc from '../../../support/seeded-fast-check.ts';

type Names = { readonly [name: string]: Names | 'scalar' };

const metric: Names = { criterion: 'scalar', value: 'scalar', step: 'scalar' };
const experiment: Names = {
  experiment_id: 'scalar',
  duration: 'scalar',
  tags: 'scalar',
  best: metric,
};
const project: Names = {
  project_id: 'scalar',
  description: 'scalar',
  owner: 'scalar',
  'x:score': 'scalar',
  tags: 'scalar',
  counts: { configs: 'scalar', experiments: 'scalar' },
  latest: experiment,
  environment: { env_type: 'scalar', dependencies: 'scalar' },
  experiments: experiment,
  curves: metric,
  attributes: { rate: 'scalar', layers: { size: 'scalar', name: 'scalar' }, note: 'scalar' },
};

const separator = fc.constantFrom(',', ',', ',', ' ', ', ', ';', ' , ', '\t', ',\u00a0', '×');

/** A field that the model has, whole or with a mask that fits it, and now and then one that does not. */
function fieldOf(names: Names): fc.Arbitrary<string> {
  const nested = Object.entries(names).flatMap(([name, below]) =>
    below === 'scalar' ? [] : [maskOf(below).map((inner) => `${name}{${inner}}`)],
  );
  const known = fc.constantFrom(...Object.keys(names));
  return fc.oneof(
    { weight: 30, arbitrary: known },
    ...nested.map((arbitrary) => ({ weight: 8, arbitrary })),
    {
      weight: 4,
      arbitrary: fc.constantFrom('*', 'nothing', 'nothing{x}', '__proto__', '*{x}', 'é', '²', '-'),
    },
    { weight: 1, arbitrary: known.map((name) => `${name}{x}`) },
    { weight: 1, arbitrary: known.map((name) => `${name}{}`) },
  );
}

/** Fields with separators between, which may also be missing at the end. */
function maskOf(names: Names): fc.Arbitrary<string> {
  const fields = fc.array(fc.tuple(fieldOf(names), separator), { minLength: 1, maxLength: 4 });
  return fc
    .tuple(fields, fc.boolean())
    .map(([pairs, trailing]) => pairs.flat().slice(0, trailing ? undefined : -1))
    .map((parts) => parts.join(''));
}

const wellFormed = fc
  .tuple(maskOf(project), fc.boolean())
  .map(([mask, braces]) => (braces ? `{${mask}}` : mask));

/** A well-formed mask with one mark put in or taken out: nearly right, so that each error and their order is met. */
const nearMiss = fc
  .tuple(wellFormed, fc.nat(), fc.constantFrom('{', '}', ',', ';', ' ', ''))
  .map(([mask, place, mark]) => {
    const at = place % (mask.length + 1);
    return mask.slice(0, at) + mark + mask.slice(mark === '' ? at + 1 : at);
  });

/** Names and marks in any order. */
const soup = fc
  .array(fc.constantFrom('project_id', 'counts', 'configs', '*', '{', '}', ',', ' ', ';', 'é'), {
    minLength: 1,
    maxLength: 10,
  })
  .map((tokens) => tokens.join(''));

/** The same random masks for the same seed, none twice and none blank. */
export function randomMasks(numRuns: number, seed: number): string[] {
  const masks = fc.sample(fc.oneof(wellFormed, nearMiss, soup), { numRuns, seed });
  return [...new Set(masks)].filter((mask) => mask.trim() !== '');
}
