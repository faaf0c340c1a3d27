/**
 * Encode an item or a key in DynamoDB's JSON, as the SDK does: a value that is undefined is left out.
 * @throws NotPlainError for values that this service does not store, such as sets; the SDK knows them
 */
export function toAttributes(item: object): Record<string, AttributeValue> {
  const attributes: Record<string, AttributeValue> = {};
  for (const [name, value] of Object.entries(item)) {
    if (value === undefined) continue;
    attributes[requirePlainName(name)] = toAttribute(value);
  }
  return attributes;
}

/** A value in DynamoDB's JSON, under the name of its type: `{"S":"text"}`. */
type AttributeValue = Readonly<Record<string, unknown>>;

/** Only the SDK can encode or decode the value. */
export class NotPlainError extends Error {
  override readonly name = 'NotPlainError';
}

function toAttribute(value: unknown): AttributeValue {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'boolean') return { BOOL: value };
  if (value === null) return { NULL: true };
  if (typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER) return { N: String(value) };
  if (Array.isArray(value)) return { L: value.filter((one) => one !== undefined).map(toAttribute) };
  if (value instanceof Uint8Array) {
    return { B: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64') };
  }
  if (typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype) {
    return { M: toAttributes(value) };
  }
  throw new NotPlainError(`a value of type ${typeof value}`);
}

/** To assign this name would change the object itself. */
function requirePlainName(name: string): string {
  if (name === '__proto__') throw new NotPlainError(name);
  return name;
}

/**
 * Decode an item or a key of DynamoDB's JSON, as the SDK does. The item takes the place of its JSON, because a page of a list has
 * thousands of values, and new objects for them took most of the time.
 * @throws NotPlainError for what only the SDK knows
 */
export function fromAttributes(attributes: Record<string, AttributeValue>): Record<string, unknown> {
  const item: Record<string, unknown> = attributes;
  for (const name in attributes) item[requirePlainName(name)] = fromAttribute(attributes[name] ?? {});
  return item;
}

function fromAttribute(attribute: AttributeValue): unknown {
  for (const type in attribute) {
    const value = attribute[type];
    if (type === 'S' || type === 'BOOL') return value;
    if (type === 'NULL') return null;
    if (type === 'N') return fromNumber(Number(value));
    // The casts hold, because the emulator answers in DynamoDB's JSON.
    if (type === 'L') return (value as AttributeValue[]).map(fromAttribute);
    if (type === 'M') return fromAttributes(value as Record<string, AttributeValue>);
    if (type === 'B') return bytesOf(Buffer.from(value as string, 'base64'));
    throw new NotPlainError(`a value of type ${type}`);
  }
  throw new NotPlainError('a value without type');
}

function fromNumber(value: number): number {
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value;
  throw new NotPlainError('a number that loses digits');
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Buffer): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);
