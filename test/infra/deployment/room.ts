import { expect, test } from 'vitest';
import { stackKinds } from '../../../infra/aws/deploy/read-deployment.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { type Deployment, deployment, endpoints, synthesize } from './synthesized.ts';

const service = await deployment();

/** Resources that CloudFormation takes in a stack. */
const most = 500;

const sizes = ({ resources }: Deployment): Record<string, number> =>
  Object.fromEntries(
    [...Map.groupBy(resources, ({ stack }) => stack)].map(([stack, { length }]) => [
      stack.replace('model-project-service-', ''),
      length,
    ]),
  );

/** As many endpoints: copies of present ones under routes of their own, which take more resources than sharing one. */
function grownTo(count: number): AnyEndpoint[] {
  const copied = endpoints.filter(({ method }) => method !== 'ANY').slice(0, count - endpoints.length);
  const copies = copied.map((endpoint): AnyEndpoint => {
    const path: AnyEndpoint['path'] = `/more${endpoint.path}`;
    return { ...endpoint, name: `${endpoint.name}More`, path };
  });
  return [...endpoints, ...copies];
}

test('a deployment has five stacks, and its API takes at most 40 resources', () => {
  expect(Object.keys(sizes(service)).sort()).toEqual([...stackKinds].sort());
  expect(sizes(service)['api']).toBeLessThanOrEqual(40);
});

test('290 endpoints fit, in resources and in bytes of the templates', async () => {
  const grown = await synthesize({ alarms: 'false' }, grownTo(290));
  for (const size of Object.values(sizes(grown))) expect(size).toBeLessThanOrEqual(most);
  // CloudFormation takes a template of 1 MB; hashes of real bundles are as long as these.
  for (const { template } of grown.app.synth().stacks) {
    expect(JSON.stringify(template).length).toBeLessThan(700_000);
  }
});
