// The program that the restart tests kill: a server in the folder of its argument, which prints its address.
import { startBatchServer } from '../../../infra/local/batch/batch-server.ts';
import { optionsIn } from './server-options.ts';

const { url } = await startBatchServer(optionsIn(process.argv[2] ?? ''));
process.stdout.write(`${url}\n`);
