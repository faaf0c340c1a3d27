import type * as z from 'zod';
import type { RawRequest } from '../../http/definition/endpoint-input.ts';
import { Reply } from '../../http/definition/reply.ts';
import type { MlflowContext } from './context.ts';
import { parseRequest } from './parse-request.ts';

type Answered = Reply<never>;

/** One operation of MLflow's API: a method and a path below `/mlflow/`, and what it does. */
export interface Route {
  method: RawRequest['method'];
  /** Words, `{name}` for one segment, and `{name+}` for all that follow. */
  path: string;
  handle(
    request: RawRequest,
    variables: Readonly<Record<string, string>>,
    context: MlflowContext,
  ): Promise<Answered>;
}

export const answerJson = (value: object): Answered =>
  Reply.content('application/json', JSON.stringify(value));

/** A route that takes fields and answers JSON. The variables of its path are fields, too. */
export function route<S extends z.ZodObject>(
  call: `${RawRequest['method']} ${string}`,
  schema: S,
  handle: (input: z.output<S>, context: MlflowContext) => Promise<object | Answered>,
): Route {
  const [method, path = ''] = call.split(' ');
  return {
    method: method as RawRequest['method'],
    path,
    async handle(request, variables, context) {
      const query = new URLSearchParams(request.query);
      for (const [name, value] of Object.entries(variables)) query.set(name, value);
      const answer: object = await handle(parseRequest(schema, { ...request, query }), context);
      return answer instanceof Reply ? (answer as Answered) : answerJson(answer);
    },
  };
}
