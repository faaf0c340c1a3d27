import { expect, test } from 'vitest';
import { endpoint as create } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { endpoint as list } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import { endpointEnvironment } from '../../../infra/local/access/local-roles.ts';
import { dynamoDb } from '../../../shared/aws/dynamodb-client.ts';
import { testCredentials } from '../../support/emulators.ts';
import { everySample } from '../../support/samples.ts';
import { throughSdk } from '../../support/send-locally.ts';
import { testService } from '../../support/service.ts';
import { newProject } from '../projects/new-project.ts';
import { json } from '../users/body.ts';

test.runIf(everySample)(
  'a search reads the records of a hundred runs at a time, until its answer is full',
  async () => {
    const service = await testService();
    const as = await service.user('developer');
    const path = { project_id: await newProject(service, as) };
    const params = Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`p${at}`, 'x'.repeat(5900)]));
    const runs = Array.from({ length: 120 }, (_, at) => ({ name: `run ${at}`, params }));
    await Promise.all(runs.map((run) => service.call(create, { path, as, ...json(run) })));
    let read = 0;
    const client = dynamoDb(endpointEnvironment(list, service.environment, testCredentials));
    const { middlewareStack } = client;
    middlewareStack.add(
      (next) => (args) => {
        const { RequestItems: asked = {} } = args.input as {
          RequestItems?: Record<string, { Keys: { pk: string }[] }>;
        };
        const keys = Object.values(asked).flatMap(({ Keys }) => Keys);
        read += keys.filter(({ pk }) => pk.startsWith('EXPERIMENTS#')).length;
        return next(args);
      },
      { step: 'initialize', name: 'keys-of-a-test' },
    );
    const readBy = async (limit: string) => {
      read = 0;
      const query = { filter: "name LIKE 'run %'", order_by: 'name', limit };
      const { json: found } = await throughSdk(client, () => service.call(list, { path, query, as }));
      return { shown: found.length, read };
    };

    // A search of one row reads this row, and the one that tells whether more follow. Besides, each reads what it may fold,
    // which is the same for both unless the time for folding ended earlier in one of them.
    await expect
      .poll(async () => {
        const one = await readBy('1');
        const all = await readBy('1000');
        expect(one.shown).toBe(1);
        expect(all.shown).toBeGreaterThan(80);
        return all.read - one.read;
      })
      .toBe(100 - 2);
    middlewareStack.remove('keys-of-a-test');

    // An answer has room for the rows as they are asked for.
    for (const order_by of ['', 'name']) {
      const query = { limit: '500', order_by, fields: 'name,params.p3' };
      const { json: found, headers } = await service.call(list, { path, query, as });
      expect(found).toHaveLength(runs.length);
      expect(headers['link']).toBeUndefined();
      expect(Object.keys(found[0].params)).toEqual(['p3']);
    }
  },
);
