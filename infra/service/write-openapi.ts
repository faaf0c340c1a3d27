import { spawnSync } from 'node:child_process';
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readFlags } from '../command/read-flags.ts';
import { runMain } from '../command/run-main.ts';
import { loadEndpoints } from './endpoints.ts';
import { documentText, serviceDocument } from './openapi-document.ts';

/** `npm run openapi`: write the OpenAPI document that the service serves, generated from the definitions. */
async function write(): Promise<number> {
  readFlags(usage, {});
  // An endpoint imports the file, so it must exist before the endpoints are loaded.
  await access(file).catch(() => writeFile(file, '{}\n'));
  const text = documentText(serviceDocument(await loadEndpoints(functions)));
  await writeFile(file, text);
  process.stdout.write(`functions/service/openapi.json: ${text.length.toLocaleString('en')} characters\n`);
  return spawnSync('biome', ['format', '--write', file], { cwd: root, stdio: 'inherit' }).status ?? 1;
}

const usage =
  'Usage: npm run openapi\n  writes functions/service/openapi.json from the definitions of the endpoints';

const root = join(import.meta.dirname, '../..');

const functions = join(root, 'functions');

const file = join(functions, 'service/openapi.json');

await runMain(write);
