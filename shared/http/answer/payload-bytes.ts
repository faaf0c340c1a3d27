/** Return the bytes that a text takes in a payload, without its quotes. */
export const payloadBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

/**
 * Maximum bytes of a response in Lambda. Lambda sends it as JSON, so every quote and backslash of the body is
 * escaped.
 */
export const maxPayloadBytes = 6_291_556;

/** Maximum bytes of a list's rows in a payload. The rest is for the headers. */
export const maxRowsPayloadBytes = 6_000_000;

/** Maximum bytes of a UTF-16 unit in a payload: `\u001b` takes six. */
const maxUnitBytes = 6;

/**
 * Return whether a response fits into Lambda's payload. Count its bytes only if the length alone does not decide.
 */
export function fitsPayload(answer: { body: string }): boolean {
  const { body, ...rest } = answer;
  const besides = maxPayloadBytes - Buffer.byteLength(JSON.stringify({ ...rest, body: '' }));
  return body.length * maxUnitBytes <= besides || payloadBytes(body) <= besides;
}
