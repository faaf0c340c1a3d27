import * as z from 'zod';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { fields } from '../../../shared/http/definition/endpoint-input.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { SweepSpec } from '../../../shared/sweeps/spec.ts';
import { estimateOf, SweepEstimate } from '../../../shared/sweeps/trials/show-sweep.ts';
import { expectedParameters } from '../training/expected-inputs.ts';
import { resolveSweep, specMaxBytes } from './sweep-request.ts';

export const endpoint = defineEndpoint({
  name: 'estimateSweep',
  method: 'POST',
  path: '/projects/{project_id}/sweeps/estimate',
  summary: 'Experiments, hours and cost of a sweep before it begins',
  description: 'Applies the same checks as beginning the sweep; nothing begins.',
  allow: 'developer',
  project: 'developer',
  right: 'run',
  needs: { records: readRecords },
  input: {
    path: projectPath,
    query: z.strictObject(expectedParameters),
    body: fields(SweepSpec, specMaxBytes),
  },
  repeatable: true,
  output: { 200: SweepEstimate },
  problems: ['conflict', 'too-large', 'unsupported-media-type'],

  async handle({ body: spec, query: expected }, context) {
    return estimateOf(await resolveSweep(spec, expected, context), spec);
  },
});
