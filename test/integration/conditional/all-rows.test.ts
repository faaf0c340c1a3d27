import { join } from 'node:path';
import { expect, test } from 'vitest';
import { endpoint as readAgentGuide } from '../../../functions/service/read-agent-guide.endpoint.ts';
import { endpoint as readCommand } from '../../../functions/service/read-command.endpoint.ts';
import { endpoint as readDocs } from '../../../functions/service/read-docs.endpoint.ts';
import { endpoint as readOpenApi } from '../../../functions/service/read-openapi.endpoint.ts';
import { endpoint as readProjectFileSchema } from '../../../functions/service/read-project-file-schema.endpoint.ts';
import { loadOperations } from '../../../infra/service/endpoints.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { hasPrecondition } from '../../../shared/http/openapi/facts.ts';
import { compressionRows } from './compression-rows.ts';
import { modelRows } from './model-rows.ts';
import { projectRows } from './project-rows.ts';
import { userRows } from './user-rows.ts';

/** Documents that change with the service alone, which their own tests try. */
const documents: readonly AnyEndpoint[] = [
  readCommand,
  readDocs,
  readOpenApi,
  readProjectFileSchema,
  readAgentGuide,
];

/** Each part's rows: an operation with an ETag or a precondition belongs into one of them. */
const parts = [projectRows, userRows, modelRows, compressionRows];

const names = (all: readonly AnyEndpoint[]) => [...new Set(all.map(({ name }) => name))].sort();

test('the rows name every operation with an ETag or a precondition, and no other', async () => {
  const loaded = await loadOperations(join(import.meta.dirname, '../../../functions'));
  const endpoints = loaded.map(({ endpoint }) => endpoint);
  const changes = parts.flatMap((rows) => rows.changes.map(({ endpoint }) => endpoint));
  expect(names(changes)).toEqual(names(endpoints.filter(hasPrecondition)));
  const reads = parts.flatMap((rows) => rows.reads.map(({ endpoint }) => endpoint));
  const tagged = parts.flatMap((rows) => rows.tagged);
  const withTag = endpoints.filter(
    (one) => one.etag === true && !hasPrecondition(one) && !documents.includes(one),
  );
  expect(names([...reads, ...tagged])).toEqual(names(withTag));
  expect(tagged.every(({ method }) => method === 'POST')).toBe(true);
});

test('every change of a record that can be read with its ETag takes a precondition', async () => {
  const loaded = await loadOperations(join(import.meta.dirname, '../../../functions'));
  const endpoints = loaded.map(({ endpoint }) => endpoint);
  const read = new Set(
    endpoints.filter(({ method, etag }) => method === 'GET' && etag).map(({ path }) => path),
  );
  const changing = endpoints.filter(({ method, path }) => /PUT|PATCH|DELETE/.test(method) && read.has(path));
  expect(changing.length).toBeGreaterThan(5);
  expect(changing.filter((one) => !hasPrecondition(one)).map(({ name }) => name)).toEqual([]);
});
