import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadOperations } from '../../../infra/service/endpoints.ts';

test('the client may repeat every POST outside /auth/: it takes a key, or does the same twice', async () => {
  const endpoints = await loadOperations(join(import.meta.dirname, '../../../functions'));
  const posts = endpoints
    .map(({ endpoint }) => endpoint)
    .filter(({ method, path }) => method === 'POST' && !path.startsWith('/auth/'));
  expect(posts.length).toBeGreaterThan(8);
  const others = posts.filter(
    ({ idempotent, repeatable, reads }) =>
      [idempotent, repeatable, reads].filter((stated) => stated !== undefined).length !== 1,
  );
  expect(others.map(({ name }) => name)).toEqual([]);
});
