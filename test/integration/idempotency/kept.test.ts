import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { endpoint as requestUpload } from '../../../functions/projects/uploads/request-source-upload.endpoint.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { fields } from '../../../shared/http/definition/endpoint-input.ts';
import { keyedRequests } from './keyed-requests.ts';

describe('what is kept for an Idempotency-Key', () => {
  const here = keyedRequests();

  test('a presigned URL is signed anew, and the key still stands for one request', async () => {
    const { json } = await here.create();
    const ask = (sha256: string) =>
      here.service.call(requestUpload, {
        path: { project_id: json.project_id },
        query: { sha256, size: '3' },
        headers: { 'Idempotency-Key': `${here.key} upload` },
        as: here.owner,
      });
    const first = await ask('a'.repeat(64));
    const again = await ask('a'.repeat(64));
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.json.upload.url).toContain('X-Amz-Signature');
    expect((await ask('b'.repeat(64))).status).toBe(422);
    expect(JSON.stringify(await here.claims())).not.toContain('X-Amz');
  });

  test('no password is kept, nor anything that the answer does not show', async () => {
    const register = defineEndpoint({
      name: 'register',
      method: 'POST',
      path: '/register',
      summary: 'Makes an account',
      allow: 'anyone',
      needs: { records: writeRecords },
      input: { body: fields(z.strictObject({ username: z.string(), password: z.string() })) },
      output: { 201: z.object({ username: z.string() }) },
      idempotent: { kind: 'creates', table: 'records', replayCreated: async (username) => ({ username }) },
      async handle({ body: { username, password } }, { records, idempotencyWrites }) {
        const item = { pk: 'TEST', sk: username, record_type: 'test' };
        await records.write({ put: item, if: { exists: false } }, ...idempotencyWrites(username));
        return { username, hash: `hash of ${password}` };
      },
    });
    const send = (username: string, password: string, sourceIp = '192.0.2.1') =>
      here.service.call(register, {
        headers: { 'Idempotency-Key': here.key, 'Content-Type': 'application/json' },
        body: JSON.stringify({ password, username }),
        sourceIp,
      });
    expect((await send('ada', 'correct horse')).status).toBe(201);
    const again = await send('ada', 'battery staple');
    expect(again.status).toBe(201);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect((await send('eve', 'correct horse')).status).toBe(422);
    expect((await send('eve', 'correct horse', '192.0.2.2')).status).toBe(201);
    const address = createHash('sha256').update('192.0.2.1').digest('hex');
    const kept = (await here.service.records.query({ pk: `IDEMPOTENCY#ADDRESS-${address}` })).items;
    expect(kept).toHaveLength(1);
    expect(JSON.stringify(kept)).not.toMatch(/correct|battery|hash of|192\.0/);
    expect(kept[0]!['answer']).toBe('{"value":{"username":"ada"},"headers":{}}');
  });

  test('an answer of another version of the service gives way to the record', async () => {
    const first = await here.create();
    const [claim] = await here.claims();
    await here.service.records.write({
      update: claim!,
      change: { set: { answer: JSON.stringify({ value: { name: 'an older shape' }, headers: {} }) } },
    });
    const again = await here.create();
    expect(again.text).toBe(first.text);
    expect(again.headers['idempotency-replayed']).toBe('true');
  });
});
