import { BatchClient } from '@aws-sdk/client-batch';
import { batchControl } from '../../../shared/aws/batch.ts';

// node batch-job.ts submit <queue> <definition> <deployment>    submits a job as functions do, and prints its id
// node batch-job.ts terminate <id> <reason>                     terminates it as functions do

const [order, first = '', second = '', deployment] = process.argv.slice(2);
const control = batchControl(new BatchClient(), deployment);
if (order === 'terminate') await control.terminate(first, second);
else {
  const sizes = { vcpus: 1, memory: 2048, gpus: 0, timeout: 3600 };
  const id = await control.submit({
    name: 'tagged',
    queue: first,
    definition: second,
    environment: {},
    ...sizes,
  });
  process.stdout.write(id);
}
