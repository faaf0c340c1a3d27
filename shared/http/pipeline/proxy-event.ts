import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';

/** What API Gateway hands to a function, and gets back from it. */
export type { APIGatewayProxyEvent as Event, APIGatewayProxyResult as Result };

/** Of the local gateway with a signal, aborted once the request needs no answer; Lambda ends the process itself. */
export type LambdaContext = Context & { signal?: AbortSignal };

/** The lines of a request header, whatever the case of its name. */
export function headerLines({ headers, multiValueHeaders }: APIGatewayProxyEvent, name: string): string[] {
  for (const [key, values] of Object.entries(multiValueHeaders ?? {})) {
    if (key.toLowerCase() === name && values !== undefined && values.length > 0) return values;
  }
  for (const [key, value] of Object.entries(headers ?? {})) {
    if (key.toLowerCase() === name && value !== undefined) return [value];
  }
  return [];
}

/** A request header, whatever the case of its name; several lines of it are joined by commas. */
export function headerOf(event: APIGatewayProxyEvent, name: string): string | undefined {
  const lines = headerLines(event, name);
  return lines.length === 0 ? undefined : lines.join(', ');
}
