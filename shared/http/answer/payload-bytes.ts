/**
 * Bytes that Lambda takes of an answer, all of which it sends as JSON: in it every quote and backslash of a body of text is
 * escaped, and a body of JSON has many.
 */
export const maxPayloadBytes = 6_291_556;

/** Most bytes of the rows of a list in it, beside headers and what else a body has. */
export const maxRowsPayloadBytes = 6_000_000;

/** Bytes that a text takes in a payload, without the quotes around it. */
export const payloadBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

/** Most bytes that a UTF-16 unit takes there, as `\u001b` does. */
const maxUnitBytes = 6;

/** Whether Lambda sends an answer. What it takes is counted only where it is not clear from the length. */
export function fitsPayload(answer: { body: string }): boolean {
  const { body, ...rest } = answer;
  const besides = maxPayloadBytes - Buffer.byteLength(JSON.stringify({ ...rest, body: '' }));
  return body.length * maxUnitBytes <= besides || payloadBytes(body) <= besides;
}
