import { join } from 'node:path';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadEndpoints } from '../../../infra/service/endpoints.ts';
import { dynamoDb } from '../../../shared/aws/dynamodb-client.ts';
import { newId } from '../../../shared/core/new-id.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { sampled } from '../../support/samples.ts';
import type { Answer } from '../../support/service.ts';
import { operations } from '../access/operations.ts';
import { type PeopledService, pathTo, peopledService } from '../access/people.ts';

const loaded = await loadEndpoints(join(import.meta.dirname, '../../../functions'));
const creating = loaded.flatMap(({ endpoint }) =>
  endpoint.idempotent?.kind === 'creates' ? [endpoint] : [],
);

let service: PeopledService;
beforeAll(async () => {
  service = await peopledService();
});

/** A good request of a person, under a key of its own, that can be sent again and with another behaviour. */
async function keyedRequest(endpoint: AnyEndpoint) {
  const person = service.people[endpoint.name === 'createUser' ? 'admin' : 'developer'];
  const call = (await operations[endpoint.name]?.call?.({ service, caller: person, target: person })) ?? {};
  const headers = { ...call.headers, 'Idempotency-Key': `key ${newId()}` };
  const request = { ...call, headers, path: { ...pathTo(person), ...call.path }, as: person };
  return {
    ask: (behaviour: AnyEndpoint = endpoint): Promise<Answer> => service.call(behaviour, request),
    /** Lets the time pass after which the first attempt counts as dead. */
    endLease: async () => {
      for (const table of [service.records, service.accounts])
        for (const claim of (await table.query({ pk: `IDEMPOTENCY#${person.user.user_id}` })).items)
          await table.write({ update: claim, change: { set: { lease_until: 0 } } });
    },
  };
}

type Handle = (input: never, context: never) => Promise<unknown>;

/** The endpoint with another behaviour. */
const behaving = (endpoint: AnyEndpoint, behave: (act: Handle) => Handle): AnyEndpoint => ({
  ...endpoint,
  handle: behave(endpoint.handle as Handle),
});

/** Records of the request itself, and those that the first request of a user or a deployment adds for all later ones. */
const besides = new Set([
  ...['audit', 'idempotency-claim', 'catalogue-mark', 'catalogue-manifest'],
  ...['limit', 'limit-share', 'cluster-claim', 'month-cost', 'active-schedules'],
]);

const good: readonly number[] = [200, 201];

/** Returns how many records there are of each kind. */
async function recordCounts(): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const name of ['ACCOUNTS_TABLE', 'RECORDS_TABLE']) {
    let from: Record<string, unknown> | undefined;
    do {
      const page = await dynamoDb(service.environment).send(
        new ScanCommand({ TableName: service.environment[name], ...(from && { ExclusiveStartKey: from }) }),
      );
      for (const { record_type: type } of page.Items ?? [])
        if (!besides.has(String(type))) counts.set(String(type), (counts.get(String(type)) ?? 0) + 1);
      from = page.LastEvaluatedKey;
    } while (from !== undefined);
  }
  return counts;
}

/** Returns what some work has added, by the kind of its record. */
async function added(work: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await recordCounts();
  await work();
  const after = [...(await recordCounts())].map(([type, count]) => [type, count - (before.get(type) ?? 0)]);
  return Object.fromEntries(after.filter(([, more]) => more !== 0));
}

describe.each(
  sampled(
    creating.map((endpoint) => [endpoint.name, endpoint] as const),
    3,
  ),
)('%s', (_, endpoint) => {
  test('makes one record of two requests at once, and of one whose process died after it had acted', async () => {
    const [alone, twice, dying] = [
      await keyedRequest(endpoint),
      await keyedRequest(endpoint),
      await keyedRequest(endpoint),
    ];
    const died = behaving(endpoint, (act) => async (input, context) => {
      await act(input, context);
      throw new Error('died');
    });

    let answers: Answer[] = [];
    const once = await added(async () => expect(good).toContain((await alone.ask()).status));
    const ofTwo = await added(async () => {
      answers = await Promise.all([twice.ask(), twice.ask()]);
    });
    const ofDead = await added(async () => {
      expect((await dying.ask(died)).status).toBe(500);
      const again = await dying.ask();
      expect(good).toContain(again.status);
      expect(again.headers['idempotency-replayed']).toBe('true');
    });

    const statuses = answers.map(({ status }) => status).sort();
    expect(good).toContain(statuses[0]);
    expect([...good, 409]).toContain(statuses[1]);
    expect((await twice.ask()).text).toBe(answers.find(({ status }) => good.includes(status))?.text);
    expect(once).not.toEqual({});
    expect([ofTwo, ofDead]).toEqual([once, once]);
  });

  test('makes nothing more if its first request goes on after another has taken its key over', async () => {
    const [alone, slow] = [await keyedRequest(endpoint), await keyedRequest(endpoint)];
    const [asleep, awake] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const sleeping = behaving(endpoint, (act) => async (input, context) => {
      asleep.resolve();
      await awake.promise;
      return act(input, context);
    });

    const once = await added(() => alone.ask());
    const statuses: number[] = [];
    const ofBoth = await added(async () => {
      const first = slow.ask(sleeping);
      await asleep.promise;
      statuses.push((await slow.ask()).status);
      await slow.endLease();
      statuses.push((await slow.ask()).status);
      awake.resolve();
      statuses.push((await first).status);
    });

    expect(statuses).toEqual([409, expect.toSatisfy((status) => good.includes(status)), 409]);
    expect(ofBoth).toEqual(once);
  });
});
