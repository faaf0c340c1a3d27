import { expect } from 'vitest';
import * as z from 'zod';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import type { Operation } from '../../../shared/http/openapi/operation.ts';
import { jsonOf } from '../../../shared/http/openapi/responses.ts';
import type { Answer } from '../../support/service.ts';

const Problem = z.looseObject({
  type: z.string().regex(/^\/docs#problem-[a-z-]+$/),
  title: z.string().min(1),
  status: z.number().int(),
  detail: z.string().min(1),
  instance: z.string().min(1),
  errors: z.array(
    z.strictObject({
      in: z.enum(['path', 'query', 'header', 'body']),
      name: z.string(),
      message: z.string().min(1),
    }),
  ),
  message: z.string(),
});

interface Declared {
  content?: Readonly<Record<string, unknown>>;
  headers?: Readonly<Record<string, unknown>>;
  $ref?: string;
}

/** What would tell a caller about the inside of the service. */
const inside =
  /node_modules|\.ts:\d+|at Object\.|ZodError|TypeError|ResourceNotFoundException|ValidationException/;

function judgeProblem({ status, headers, json, text }: Answer): void {
  expect(headers['content-type']).toBe('application/problem+json');
  const problem = Problem.parse(json);
  expect(problem.status).toBe(status);
  expect(problem.message).toBe(problem.detail);
  expect(problem.instance).toBe(headers['x-request-id']);
  if (status === 401) expect(headers['www-authenticate']).toMatch(/^Bearer/);
  if (status === 429 || status === 503) expect(headers['retry-after']).toMatch(/^\d+$/);
  expect(text).not.toMatch(inside);
}

function judgeJson({ output, fieldsMask, fieldsParameter }: AnyEndpoint, json: unknown): void {
  const declared = output[201] ?? output[200];
  const schema = declared && jsonOf(declared);
  if (schema === undefined) throw new Error('answers JSON but declares none');
  // A mask leaves a part, which the document describes and the tests of masks check.
  if (fieldsMask !== true && fieldsParameter !== true) expect(schema.parse(json)).toEqual(json);
}

/** Asserts that an answer is one of those that the operation declares. */
export function judge(endpoint: AnyEndpoint, operation: Operation, answer: Answer): void {
  const { status, headers, json } = answer;
  expect(status, answer.text).toBeLessThan(500);
  const declared = operation.responses[String(status)] as Declared | undefined;
  expect(declared, `${status} is not declared: ${answer.text}`).toBeDefined();
  expect(headers['x-request-id']).toBeTruthy();
  expect(headers['x-content-type-options']).toBe('nosniff');
  if (status >= 400) {
    judgeProblem(answer);
    return;
  }
  for (const name of ['ETag', 'Location']) {
    if (declared?.headers?.[name] !== undefined) expect(headers[name.toLowerCase()], name).toBeTruthy();
  }
  if (status === 302 || status === 304) {
    expect(answer.text).toBe('');
    return;
  }
  const [mediaType = ''] = (headers['content-type'] ?? '').split(';');
  expect(Object.keys(declared?.content ?? {})).toContain(mediaType);
  if (mediaType === 'application/json') judgeJson(endpoint, json);
}
