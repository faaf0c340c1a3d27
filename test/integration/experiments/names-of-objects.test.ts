import { expect, test } from 'vitest';
import { endpoint as createExperiment } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { endpoint as readExperiment } from '../../../functions/experiments/records/read-experiment.endpoint.ts';
import { testService } from '../../support/service.ts';
import { newProject } from '../projects/new-project.ts';
import { json } from '../users/body.ts';

const service = await testService();
const ada = await service.user('developer', 'ada');
const project_id = await newProject(service, ada);

test.each(['constructor', 'toString', 'hasOwnProperty'])(
  'a param and a tag may be called %s',
  async (name) => {
    const body = { params: { [name]: 'a' }, tags: { [name]: 'b' } };
    const made = await service.call(createExperiment, { as: ada, path: { project_id }, ...json(body) });
    expect(made.status).toBe(200);
    const { experiment_id } = made.json;
    const read = await service.call(readExperiment, { as: ada, path: { project_id, experiment_id } });
    expect(read.json).toMatchObject(body);
  },
);
