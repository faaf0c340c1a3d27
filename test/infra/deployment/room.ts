import { expect, test } from 'vitest';
import { stackKinds } from '../../../infra/aws/deploy/read-deployment.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/exchange.ts';
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

test('a deployment has five stacks, of which none is fuller than nineteen twentieths', () => {
  expect(Object.keys(sizes(service)).sort()).toEqual([...stackKinds].sort());
  for (const size of Object.values(sizes(service))) expect(size).toBeLessThan((19 / 20) * most);
});

// The stack of the API is nearly full: divide it before more endpoints come.
test('158 endpoints still fit', async () => {
  const grown = await synthesize({ alarms: 'false' }, grownTo(158));
  for (const size of Object.values(sizes(grown))) expect(size).toBeLessThanOrEqual(most);
});
