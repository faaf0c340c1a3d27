/** Bytes that a text takes in a payload, without the quotes around it. */
export const payloadBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

/**
 * Largest answer in bytes that Lambda sends. It sends the answer as JSON, so every quote and backslash of the body is
 * escaped.
 */
export const maxPayloadBytes = 6_291_556;

/** Most bytes of a list's rows in a payload. The rest is for the headers. */
export const maxRowsPayloadBytes = 6_000_000;

/** Most bytes of a UTF-16 unit in a payload: `\u001b` takes six. */
const maxUnitBytes = 6;

/** Whether an answer fits into Lambda's payload. Its bytes are counted only if the length alone does not decide. */
export function fitsPayload(answer: { body: string }): boolean {
  const { body, ...rest } = answer;
  const besides = maxPayloadBytes - Buffer.byteLength(JSON.stringify({ ...rest, body: '' }));
  return body.length * maxUnitBytes <= besides || payloadBytes(body) <= besides;
}
