import { beforeAll, describe, expect, test } from 'vitest';
import { isAllowed, tableArn } from '../../../infra/local/access/is-allowed.ts';
import { roleStatements } from '../../../infra/service/iam-statements.ts';
import { newId } from '../../../shared/core/new-id.ts';
import { type AuditRecord, appendAudit } from '../../../shared/data/accounts/audit.ts';
import { auditedWriters } from '../../../shared/data/table/audited-writer.ts';
import type { TableWriter, Write } from '../../../shared/data/table/table.ts';
import { WriteLabel } from '../../../shared/data/table/write-label.ts';
import { optimizationNeeds } from '../../../shared/runner/compression/compression-needs.ts';
import { trainingNeeds } from '../../../shared/runner/job/training-needs.ts';
import { type TestService, testService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await testService();
});

const recordOf = (): AuditRecord => ({
  ...{
    audit_id: newId(),
    at: new Date().toISOString(),
    operation: 'test',
    project_id: newId(),
    subject: '{}',
  },
  ...{
    user_id: null,
    username: null,
    ci: null,
    token_id: null,
    session_id: null,
    address: '',
    request_id: newId(),
  },
  ...{ before: null, after: null, ttl: 4_000_000_000 },
});

/** The writer of an operation whose record is `record`. */
function operation(record: AuditRecord, table: TableWriter<'records'> = service.records) {
  const append = (name: 'accounts' | 'records') => appendAudit(name, record);
  return auditedWriters({ append, appended: () => {} })(table);
}

const item = (name: string, more: object = {}) => ({
  pk: `TEST#${name}`,
  sk: 'x',
  record_type: 'test',
  ...more,
});
const put = (name: string): Write => ({ put: item(name), if: { exists: false } });

async function countOf(record: AuditRecord): Promise<number> {
  const write = appendAudit('records', record);
  if (!('put' in write)) throw new Error('an audit record is put');
  const { items } = await service.records.query({ pk: write.put.pk });
  return items.filter(({ sk }) => sk === record.audit_id).length;
}

describe('an audit record', () => {
  test('exists if the first transaction of its operation does, for each place of a kill', async () => {
    const counts: string[] = [];
    for (let kill = 0; kill < 8; kill += 1) {
      const record = recordOf();
      const names = Array.from({ length: 4 }, () => newId());
      let requests = 0;
      const dying: TableWriter<'records'> = {
        ...service.records,
        async write(...writes) {
          // Before the transaction, or after it and before its answer.
          if (requests === kill) throw new Error('killed');
          requests += 1;
          await service.records.write(...writes);
          if (requests === kill) throw new Error('killed');
          requests += 1;
        },
      };
      const records = operation(record, dying);
      const run = async () => {
        for (const name of names) await records.write(put(name));
      };
      await run().catch(() => undefined);
      const stored = await service.records.get(item(names[0] ?? ''));
      counts.push(`${stored === undefined ? 0 : 1} ${await countOf(record)}`);
    }

    expect(new Set(counts)).toEqual(new Set(['0 0', '1 1']));
  });

  test('is written once by concurrent transactions, of which some fail', async () => {
    const record = recordOf();
    const records = operation(record);
    const taken = newId();
    await service.records.write(put(taken));

    const outcomes = await Promise.allSettled([
      records.write(put(taken)),
      ...Array.from({ length: 5 }, () => records.write(put(newId()))),
    ]);

    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', ...Array(5).fill('fulfilled')]);
    expect(await countOf(record)).toBe(1);
  });

  test('is absent if the operation fails, and its label hides no other one', async () => {
    const record = recordOf();
    const taken = newId();
    await service.records.write(put(taken));
    const label = new WriteLabel('taken');

    const failed = await operation(record)
      .write(label.on(put(taken)))
      .catch((error: unknown) => error);

    expect(label.failedIn(failed)).toBe(true);
    expect(await countOf(record)).toBe(0);
  });

  test('that exists already does not stop the operation, whose other conditions still count', async () => {
    const record = recordOf();
    await service.records.write(appendAudit('records', record));
    const name = newId();

    await operation(record).write(put(name));
    const again = operation(record).write(put(name));

    await expect(again).rejects.toThrow('the condition failed of: a write without a label');
    expect(await countOf(record)).toBe(1);
  });

  test('is changed by nothing', async () => {
    const record = recordOf();
    const write = appendAudit('records', record);
    await service.records.write(write);
    if (!('put' in write)) throw new Error('an audit record is put');
    const key = { pk: write.put.pk, sk: write.put.sk };

    const changes: Write[] = [
      { delete: key },
      { update: key, change: { set: { at: '' } } },
      { put: write.put },
    ];

    for (const change of changes)
      await expect(service.records.write(change)).rejects.toThrow('audit records are only appended');
    expect(await countOf(record)).toBe(1);
  });

  test('is out of reach for the roles of jobs', () => {
    const arns = {
      ...{ accounts: tableArn('accounts'), records: tableArn('records') },
      bucket: 'b',
      deployment: 'd',
    };
    const needs = [trainingNeeds, optimizationNeeds('prune'), optimizationNeeds('quantize')];

    const granted = needs.flatMap((some) => {
      const statements = roleStatements(Object.values(some), { ...arns, submissions: [], jobs: [] });
      const context = { 'dynamodb:LeadingKeys': ['AUDIT#2026-11#0'] };
      return ['PutItem', 'UpdateItem', 'DeleteItem', 'GetItem', 'Query'].filter((action) =>
        isAllowed(statements, { action: `dynamodb:${action}`, resource: tableArn('records'), context }),
      );
    });

    expect(granted).toEqual([]);
  });
});
