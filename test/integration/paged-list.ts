import { expect } from 'vitest';
import type { AnyEndpoint } from '../../shared/http/definition/middleware.ts';
import type { Answer, TestService, TestUser } from '../support/service.ts';

/** Largest body of a list. */
const bodyMaxBytes = 4_000_000;

/** A base64url cursor of this text or these bytes, as a client might forge it. */
export const cursorOf = (text: string | Buffer): string => Buffer.from(text).toString('base64url');

/** Reads lists of a service as this caller does. */
export function pagedLists(service: TestService, as: TestUser, project_id = '') {
  /** One page, and the query of the next one where there is one. */
  async function list(endpoint: AnyEndpoint, query: string): Promise<Answer & { next: string | undefined }> {
    const path = endpoint.path.includes('{') ? { project_id } : {};
    const answer = await service.call(endpoint, { path, query, as });
    const next = /^<\?(.*)>; rel="next"$/.exec(answer.headers['link'] ?? '')?.[1];
    return { ...answer, next };
  }

  /** Follows the links to the end; `limit` may change from page to page. */
  async function walk(
    endpoint: AnyEndpoint,
    idName: string,
    limit: (page: number) => number | undefined | Promise<number | undefined>,
  ) {
    const ids: string[] = [];
    const sizes: number[] = [];
    let cursor: string | undefined;
    do {
      const most = await limit(sizes.length);
      const query = new URLSearchParams({
        ...(most !== undefined && { limit: String(most) }),
        ...(cursor !== undefined && { cursor }),
      });
      const page = await list(endpoint, query.toString());
      if (page.status !== 200) throw new Error(page.text);
      if (most !== undefined) expect(page.json.length).toBeLessThanOrEqual(most);
      expect(page.bytes.length).toBeLessThanOrEqual(bodyMaxBytes);
      ids.push(...page.json.map((row: Record<string, string>) => row[idName]));
      sizes.push(page.json.length);
      cursor = new URLSearchParams(page.next).get('cursor') ?? undefined;
    } while (cursor !== undefined);
    return { ids, sizes };
  }

  return { list, walk };
}
