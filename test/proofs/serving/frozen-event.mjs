// node frozen-event.mjs <bundle> <event>: a new instance of the function. Loads the bundle, says so, hands the event to its
// handler at each line that it reads, and prints the answers as JSON.
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';

const [bundle = '', event = ''] = process.argv.slice(2);
const received = JSON.parse(await readFile(event, 'utf8'));
const begun = performance.now();
const { handler } = await import(bundle);
process.stdout.write(`${JSON.stringify({ loaded: performance.now() - begun })}\n`);
for await (const _ of createInterface({ input: process.stdin })) {
  const asked = performance.now();
  const { statusCode } = await handler(received, {});
  process.stdout.write(`${JSON.stringify({ statusCode, milliseconds: performance.now() - asked })}\n`);
}
process.exit();
