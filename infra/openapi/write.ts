import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadEndpoints } from '../endpoints.ts';
import { documentText, serviceDocument } from './service-document.ts';

const functions = join(import.meta.dirname, '../../functions');
const file = join(functions, 'service/openapi.json');

// An endpoint imports the file, so that there must be one for the endpoints to be loaded.
await access(file).catch(() => writeFile(file, '{}\n'));
const text = documentText(serviceDocument(await loadEndpoints(functions)));
await writeFile(file, text);
process.stdout.write(`functions/service/openapi.json: ${text.length.toLocaleString('en')} characters\n`);
