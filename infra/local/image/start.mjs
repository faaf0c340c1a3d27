// Start the service of the image from its bundle, as infra/local/start/launch.mjs does in a checkout.
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

// On the command line, this flag would keep the young generation at 1 MB.
setFlagsFromString('--optimize-for-size');

const program = fileURLToPath(new URL('program', import.meta.url));
const { main } = await import(new URL('program/infra/local/start/main.js', import.meta.url).href);
await main(process.argv.slice(2), { program, checkout: undefined });
