import { RelayOptions, startRelay } from './relay.ts';

// Run a separate relay, if no S3 server acts as the relay: `node relay-main.js <options as JSON>`.
const [, , options = ''] = process.argv;
const stop = await startRelay(RelayOptions.parse(JSON.parse(options)));
process.stdout.write('ready\n');
await new Promise((resolve) => process.once('SIGTERM', resolve));
await stop();
process.exit(0);
