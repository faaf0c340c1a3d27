import { RelayOptions, startRelay } from './relay.ts';

// A relay by itself, where no S3 server runs that could be one besides: `node relay-main.js <options as JSON>`.
const [, , options = ''] = process.argv;
const stop = await startRelay(RelayOptions.parse(JSON.parse(options)));
process.stdout.write('ready\n');
await new Promise((resolve) => process.once('SIGTERM', resolve));
await stop();
process.exit(0);
