// node frozen-event.mjs <bundle> <event>: a new instance of the function that is frozen before its first request. Loads the
// bundle, says so, waits for a line, hands the event to its handler twice, and prints the answers as JSON.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';

const [bundle = '', event = ''] = process.argv.slice(2);
const received = JSON.parse(await readFile(event, 'utf8'));
const begun = performance.now();
const { handler } = await import(bundle);
process.stdout.write(`${JSON.stringify({ loaded: performance.now() - begun })}\n`);
const answers = [];
for (let count = 0; count < 2; count += 1) {
  await once(process.stdin, 'data');
  const asked = performance.now();
  const { statusCode } = await handler(received, {});
  answers.push({ statusCode, milliseconds: performance.now() - asked });
  process.stdout.write(`${JSON.stringify(answers.at(-1))}\n`);
}
process.exit();
