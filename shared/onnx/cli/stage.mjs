// The program of a stage's process, from the bundle of the command that starts it. Compiled code is kept between runs; the
// user of the command runs both, so it is nobody else's.
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

const folder = new URL('../../../.build/optimize/', import.meta.url);

enableCompileCache(fileURLToPath(new URL('compiled', folder)));
await import(new URL('stage.js', folder).href);
