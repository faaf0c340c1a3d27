// node cold-event.mjs <bundle> <event>: what Lambda does in a new instance. Loads the bundle, hands the event to its
// handler twice, and prints the milliseconds from the start of Node as JSON.
import { readFile } from 'node:fs/promises';

const [bundle = '', event = ''] = process.argv.slice(2);
const received = JSON.parse(await readFile(event, 'utf8'));
const { handler } = await import(bundle);
const loaded = performance.now();
const { statusCode } = await handler(received, {});
const answered = performance.now();
await handler(received, {});
const again = performance.now() - answered;
process.stdout.write(`${JSON.stringify({ statusCode, loaded, answered, again })}\n`, () => process.exit());
