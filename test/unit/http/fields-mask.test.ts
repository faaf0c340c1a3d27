import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { ServiceError } from '../../../shared/core/service-error.ts';
import type { AnyEndpoint, Exchange } from '../../../shared/http/definition/middleware.ts';
import { applyMask, parseMaskOfRequest } from '../../../shared/http/fields-mask/fields-mask.ts';
import { parseMask } from '../../../shared/http/fields-mask/parse-mask.ts';
import { type MaskCase, maskTable } from '../../proofs/compare/fields-mask/mask-table.ts';
import { Project } from '../../proofs/compare/fields-mask/project-model.ts';
import projects from '../../proofs/compare/fields-mask/projects.json' with { type: 'json' };

/** What `act` throws, which must be a problem. */
function problemOf(act: () => unknown): ServiceError {
  try {
    act();
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

const apply = (mask: string, schema: z.ZodType, value: unknown) => applyMask(parseMask(mask), schema, value);

type Shown = Exclude<MaskCase, readonly [string, string]>;
const shown = maskTable.filter((row): row is Shown => typeof row[1] !== 'string');
const refused = maskTable.filter((row): row is readonly [string, string] => typeof row[1] === 'string');

describe('the table of masks', () => {
  test('has at least 60 masks, none of them twice', () => {
    expect(maskTable.length).toBeGreaterThanOrEqual(60);
    expect(new Set(maskTable.map(([mask]) => mask)).size).toBe(maskTable.length);
  });

  test.each(shown)('%j shows its part', (mask, part) => {
    const [value] = z.array(Project).parse(projects);
    // As text, because the order of the fields is the mask's.
    const ordered = mask.includes('*') ? (json: unknown) => json : JSON.stringify;
    expect(ordered(apply(mask, Project, value))).toEqual(ordered(part));
  });

  test.each(refused)('%j is refused', (mask, message) => {
    const problem = problemOf(() => apply(mask, Project, projects[0]));
    expect(problem.kind).toBe('bad-request');
    expect(problem.message).toBe(message);
    expect(problem.errors).toEqual([{ in: 'header', name: 'X-Fields', message }]);
  });
});

describe('order of fields', () => {
  test('those mentioned come first, the others of * in the order of the schema', () => {
    const schema = z.object({ a: z.string(), b: z.string(), c: z.string() });
    expect(Object.keys(apply('*,c', schema, { a: '', b: '', c: '' }) as object)).toEqual(['c', 'a', 'b']);
  });
});

describe('a list', () => {
  const [first, second] = projects;

  test('is masked per element', () => {
    expect(apply('project_id,latest{status}', z.array(Project), [first, second])).toEqual([
      { project_id: 'p1', latest: { status: 'RUNNING' } },
      { project_id: 'p2', latest: null },
    ]);
  });

  test('that is empty still refuses a sub-mask on a scalar', () => {
    expect(() => apply('project_id{x}', z.array(Project), [])).toThrow('Mask is inconsistent with model');
  });

  test('keeps its null elements', () => {
    expect(apply('a', z.array(z.object({ a: z.string() }).nullable()), [null, { a: 'x' }])).toEqual([
      null,
      { a: 'x' },
    ]);
  });

  test('of fixed length masks each element by its own schema', () => {
    const pair = z.tuple([z.object({ a: z.string() }), z.object({ b: z.string() })]);
    expect(apply('b', pair, [{ a: 'x' }, { b: 'y' }])).toEqual([{}, { b: 'y' }]);
  });
});

describe('the mask of a request', () => {
  function exchangeOf(headers: Record<string, string>, endpoint: Partial<AnyEndpoint> = {}): Exchange {
    const masked = { name: 'readProject', fieldsMask: true, output: { 200: Project }, ...endpoint };
    return { endpoint: masked, event: { headers } } as unknown as Exchange;
  }

  async function maskOf(exchange: Exchange): Promise<Exchange['mask']> {
    await parseMaskOfRequest(exchange);
    return exchange.mask;
  }

  test('is taken from X-Fields, whatever its case', async () => {
    expect(await maskOf(exchangeOf({ 'x-FIELDS': 'counts{configs}' }))).toEqual(
      new Map([['counts', new Map([['configs', true]])]]),
    );
  });

  test.each(['', ' ', '\t', '\u00a0'])('is absent where the header is blank: %j', async (blank) => {
    expect(await maskOf(exchangeOf({ 'X-Fields': blank }))).toBeUndefined();
    expect(await maskOf(exchangeOf({}))).toBeUndefined();
  });

  test('is ignored by endpoints without a mask, however bad it is', async () => {
    const { fieldsMask: _, ...endpoint } = exchangeOf({}).endpoint;
    const exchange = { endpoint, event: { headers: { 'X-Fields': '{' } } } as unknown as Exchange;
    expect(await maskOf(exchange)).toBeUndefined();
  });

  test('is refused before anything is done where it does not fit the answer', () => {
    const list = { output: { 201: z.array(Project) } };
    const problem = problemOf(() => parseMaskOfRequest(exchangeOf({ 'X-Fields': 'owner{x}' }, list)));
    expect(problem.message).toBe('Mask error: Mask is inconsistent with model');
  });

  test('is refused where it does not parse', () => {
    expect(problemOf(() => parseMaskOfRequest(exchangeOf({ 'X-Fields': 'a,,b' }))).message).toBe(
      'Mask parse error: Unexpected comma',
    );
  });
});
