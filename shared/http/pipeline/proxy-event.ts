import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';

/** The event and the result of a Lambda function behind API Gateway. */
export type { APIGatewayProxyEvent as Event, APIGatewayProxyResult as Result };

/** The local gateway adds what a function of AWS does not have. */
export type LambdaContext = Context & {
  /** Aborted when the request needs no response any more. Lambda ends the process instead. */
  signal?: AbortSignal;
  park?: Park;
};

/**
 * Wait for something while the request holds no place among those in progress. The signal is aborted when the client has
 * gone, and when the service ends.
 * @returns false, without a wait, if the caller has too many requests that wait
 */
export type Park = (wait: (signal: AbortSignal) => Promise<void>) => Promise<boolean>;

/** Header lines by their names in lower case, because a request asks for a dozen of them. */
const linesByName = new WeakMap<APIGatewayProxyEvent, ReadonlyMap<string, string[]>>();

/** The lines of a request header, by its name in lower case. The case of a sent name does not matter. */
export const headerLines = (event: APIGatewayProxyEvent, name: string): string[] =>
  headersOf(event).get(name) ?? [];

function headersOf(event: APIGatewayProxyEvent): ReadonlyMap<string, string[]> {
  const known = linesByName.get(event);
  if (known !== undefined) return known;
  const lines = new Map<string, string[]>();
  const { headers, multiValueHeaders } = event;
  for (const [name, values] of Object.entries(multiValueHeaders ?? {})) {
    const lower = name.toLowerCase();
    if (values !== undefined && values.length > 0 && !lines.has(lower)) lines.set(lower, values);
  }
  for (const [name, value] of Object.entries(headers ?? {})) {
    const lower = name.toLowerCase();
    if (value !== undefined && !lines.has(lower)) lines.set(lower, [value]);
  }
  linesByName.set(event, lines);
  return lines;
}

/** A request header; several lines are joined by commas. The case of its name does not matter. */
export function headerOf(event: APIGatewayProxyEvent, name: string): string | undefined {
  const lines = headerLines(event, name);
  return lines.length === 0 ? undefined : lines.join(', ');
}

/** Bodies of the local gateway, by event. Lambda passes them in base64, which is most of the cost of a large body. */
const received = new WeakMap<APIGatewayProxyEvent, Uint8Array>();

/** Let a function of this process read a body as it was received. */
export function keepBody(event: APIGatewayProxyEvent, body: Uint8Array): APIGatewayProxyEvent {
  received.set(event, body);
  return event;
}

/** Return the bytes of a request's body. */
export const bodyBytes = (event: APIGatewayProxyEvent): Uint8Array =>
  received.get(event) ?? Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
