import * as z from 'zod';
import { makeProxyEvent } from '../../../../infra/local/gateway/make-proxy-event.ts';
import { notFound } from '../../../../shared/core/service-error.ts';
import { defineEndpoint } from '../../../../shared/http/definition/definition.ts';
import type { AnyEndpoint } from '../../../../shared/http/definition/middleware.ts';
import { lambda } from '../../../../shared/http/pipeline/lambda.ts';
import { Project } from './project-model.ts';

export const routes = ['one', 'list', 'write', 'error'] as const;
export type Answers = Record<(typeof routes)[number], [status: number, body: unknown][]>;

const environment = { ACCOUNTS_TABLE: 'none', RECORDS_TABLE: 'none', BUCKET: 'none', LOG_LEVEL: 'error' };

function masked<O extends z.ZodType>(name: string, output: O, handle: () => Promise<z.input<O>>) {
  return defineEndpoint({
    name,
    method: name === 'write' ? 'POST' : 'GET',
    path: `/${name}`,
    summary: name,
    allow: 'anyone',
    needs: {},
    input: {},
    output: { 200: output },
    fieldsMask: true,
    handle: handle as never,
  }) as AnyEndpoint;
}

/** Answers masks as the service does, through the handlers of endpoints made like those of flask-restx-answers.py. */
export async function ourAnswers(
  data: z.input<typeof Project>[],
  masks: readonly string[],
): Promise<Answers> {
  let writes = 0;
  const first = async () => data[0]!;
  const endpoints = {
    one: masked('one', Project, first),
    list: masked('list', z.array(Project), async () => data),
    write: masked('write', Project, () => {
      writes += 1;
      return first();
    }),
    error: masked('error', Project, async () => {
      throw notFound('project', 'p9');
    }),
  };
  const answers: Answers = { one: [], list: [], write: [], error: [] };
  for (const route of routes) {
    const handler = lambda(endpoints[route], environment);
    for (const mask of masks) {
      const before = writes;
      const { method, path } = endpoints[route];
      const headers = [['X-Fields', mask] as const];
      const request = { method, path, query: '', headers, body: Buffer.of(), sourceIp: '127.0.0.1' };
      const result = await handler(makeProxyEvent(request, path, {}), {} as never);
      const json = JSON.parse(result.body);
      const body = result.statusCode === 400 ? json.message : json;
      answers[route].push([result.statusCode, route === 'write' ? [body, writes - before] : body]);
    }
  }
  return answers;
}
