import { beforeAll, describe, expect, test } from 'vitest';
import { isAudited } from '../../../shared/http/definition/definition.ts';
import { auditRecords } from '../../support/audit-records.ts';
import { type PeopledService, peopledService } from '../access/people.ts';
import { endpoints, loaded, writingRequest, writingRows } from './writing-requests.ts';

let service: PeopledService;
beforeAll(async () => {
  service = await peopledService();
});

describe('the audit', () => {
  test('knows every operation that writes as one that it records, or says why not', () => {
    const writing = loaded.filter(
      ({ endpoint: { method, needs } }) =>
        method !== 'GET' &&
        Object.values(needs).some(({ level }) => level === 'write' || level === 'control'),
    );
    const unrecorded = writing
      .filter(({ endpoint }) => !isAudited(endpoint))
      .map(({ endpoint }) => endpoint.name);

    expect(unrecorded.sort()).toEqual(['linkAccount', 'serveModels']);
  });

  test.each(writingRows)('has one record of %s', async (row) => {
    const endpoint = endpoints.get(row.split(',')[0] ?? '');
    if (endpoint === undefined) throw new Error('there is no such operation');
    const call = await writingRequest(service, row, endpoint);

    const answer = await service.call(endpoint, call);

    expect([answer.status, answer.text]).toEqual([
      expect.toSatisfy((status) => status < 300),
      expect.anything(),
    ]);
    const id = answer.headers['x-request-id'];
    const found = (await auditRecords(service)).filter(({ request_id }) => request_id === id);
    expect(found).toHaveLength(1);
  });
});
