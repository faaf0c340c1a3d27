import { expect, test } from 'vitest';
import { quotasFor } from '../../../../infra/deploy/quotas.ts';
import { readOptions } from '../../../../infra/deployment-options.ts';

const needed = (context: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(quotasFor(readOptions(context)).map(({ code, needed }) => [code, needed]));

const usual = { 'L-3032A538': 16, 'L-1216C47A': 16 };

test('nodes of each family count against the quota of their family', () => {
  expect(needed({})).toEqual(usual);
  const sizes = { clusterMaxVcpus: 200, gpuMaxVcpus: 192 };
  const plain = { ...usual, 'L-1216C47A': 200 };
  expect(needed({ ...sizes, gpuInstanceTypes: 'g4dn.xlarge,gr6.4xlarge,g6e.xlarge' })).toEqual({
    ...plain,
    'L-DB2E81BA': 392,
  });
  expect(needed({ ...sizes, gpuInstanceTypes: 'p4d.24xlarge,p5.48xlarge' })).toEqual({
    ...plain,
    'L-417A185B': 392,
  });
});

test('on Spot single nodes count against the quotas of Spot, nodes of a cluster never', () => {
  const options = { spot: true, clusterMaxVcpus: 200, gpuMaxVcpus: 192 };
  expect(needed({ ...options, gpuInstanceTypes: 'g6.xlarge,p3.2xlarge,p5.4xlarge' })).toEqual({
    'L-36FBB829': 16,
    'L-1216C47A': 200,
    'L-DB2E81BA': 200,
    'L-417A185B': 200,
    'L-3819A6DF': 192,
    'L-7212CCBC': 192,
    'L-C4BD4855': 192,
  });
});
