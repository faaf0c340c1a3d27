import { expect, test } from 'vitest';
import { maxPayloadBytes } from '../../shared/http/answer/payload-bytes.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { content } from '../../shared/http/definition/endpoint-output.ts';
import { answerList } from '../../shared/http/definition/pagination.ts';
import { Reply } from '../../shared/http/definition/reply.ts';
import { answerPage } from '../../shared/mlflow/protocol/search-fields.ts';
import type { RowOrder } from '../../shared/search/row-order.ts';
import { testService } from '../support/service.ts';

/** Each of its characters takes two bytes as JSON, and four as JSON within the JSON that Lambda sends. */
const quotes = '"'.repeat(100_000);

const answersText = (text: string) =>
  defineEndpoint({
    name: 'answersText',
    method: 'GET',
    path: '/text',
    summary: 'A text',
    allow: 'anyone',
    needs: {},
    input: {},
    output: { 200: content(['text/plain']) },
    handle: async () => Reply.content('text/plain; charset=utf-8', text),
  });

const asSent = (text: string) => Buffer.byteLength(JSON.stringify({ statusCode: 200, body: text }));

test('an answer is measured as Lambda sends it: in bytes, after escaping', async () => {
  const service = await testService();
  const status = async (text: string) => (await service.call(answersText(text))).status;
  expect(await status('a'.repeat(6_000_000))).toBe(200);
  expect(await status('"'.repeat(3_000_000))).toBe(200);
  // All of these are shorter than the most, until they are escaped or written as bytes.
  expect(await status('"'.repeat(3_500_000))).toBe(413);
  expect(await status('é'.repeat(3_500_000))).toBe(413);
  expect(await status('\u001b'.repeat(1_100_000))).toBe(413);
});

test('a list ends where its rows would be too large once they are escaped', async () => {
  const rows = Array.from({ length: 40 }, (_, index) => ({ id: String(index).padStart(2, '0'), quotes }));
  const { body, next } = await answerList(
    {},
    {
      fetch: async ({ after = '' }) => ({ items: rows.filter(({ id }) => id > after), next: undefined }),
      keyOf: ({ id }) => id,
      show: (row) => row,
    },
  );
  const shown: unknown = body.kind === 'json' ? body.value : undefined;
  expect(asSent(JSON.stringify(shown))).toBeLessThan(maxPayloadBytes);
  expect(shown).toHaveLength(14);
  expect(next?.after).toBe('13');
});

test('so does an answer of MLflow’s API', async () => {
  const rows = Array.from({ length: 40 }, (_, index) => ({ id: String(index), quotes }));
  const order = { positionOf: ({ id }: { id: string }) => ({ keys: [], id }) } as unknown as RowOrder<{
    id: string;
  }>;
  const { body } = await answerPage('runs', { rows, next: undefined }, order, (some) => [...some]);
  const text = body.kind === 'content' ? String(body.bytes) : '';
  expect(asSent(text)).toBeLessThan(maxPayloadBytes);
  expect(JSON.parse(text).runs).toHaveLength(14);
});
